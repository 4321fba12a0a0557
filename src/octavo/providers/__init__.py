"""The services that answer: one adapter each, over the service's own library, imported only when it is used.

An adapter obeys `octavo.protocols.Provider`. What goes out and what comes back is written and read by `core.wire`;
errors are classified once, in `faults`; a request is tried again only as long as nobody has seen any of the answer.
"""

from octavo.providers.availability import Availability, availability, explain
from octavo.providers.catalogue import Target, open_provider, resolve
from octavo.providers.fetch import Progress, install
from octavo.providers.gguf import MODEL_FILES, ModelFile, installed_models
from octavo.providers.secret import Secret
from octavo.providers.settings import Account, Local, Patience, Settings, read_settings

__all__ = [
    "MODEL_FILES",
    "Account",
    "Availability",
    "Local",
    "ModelFile",
    "Patience",
    "Progress",
    "Secret",
    "Settings",
    "Target",
    "availability",
    "explain",
    "install",
    "installed_models",
    "open_provider",
    "read_settings",
    "resolve",
]
