"""Prompts as Markdown with named slots: `{language}` is filled in, `{{language}}` stands for itself.

A template is filled in one pass, so braces in what is filled in are never looked at: a user who writes `{rules}` is
quoted, not obeyed. A slot nobody fills is an error, and is found when the prompt is read, not when it is sent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from types import MappingProxyType

from octavo.errors import BadInput

FORMS = ("default", "code", "state", "dense", "chat")
"""The prompts that come with Octavo; the other files are pieces of them."""
FORM_SLOTS = frozenset({"rules", "length", "focus", "language", "history", "conversation_history"})
NEEDED = ("rules", "length", "focus")
"""What every prompt has to say; a user's own prompt without these slots gets them at its end."""
HISTORY = "[the conversation, in the messages that follow]"
"""What `{history}` becomes: prompts that people bring along have such a slot, but history is never put among
instructions."""
CUSTOM = "custom"

_SLOT = re.compile(r"\{\{([a-z][a-z_]*)\}\}|\{([a-z][a-z_]*)\}")
_VERSION = re.compile(r"\s*<!--\s*version:\s*(\w+)\s*-->\s*")
_PARAGRAPH = re.compile(r"\n[ \t]*\n\s*")
_HEADING = re.compile(r"^#{1,6}[ \t]++([^\n]*[^ \t#\n])[ \t#]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Template:
    """A text with slots."""

    name: str
    text: str
    version: str
    sections: tuple[str, ...] = ()
    """The headings an answer is to have; those of a user's own prompt may mean anything."""

    @property
    def slots(self) -> frozenset[str]:
        return frozenset(slot for _, slot in _SLOT.findall(self.text) if slot)

    @property
    def label(self) -> str:
        """Name and version, as they are stored with a summary."""
        return f"{self.name}@{self.version}"

    def render(self, values: Mapping[str, str]) -> str:
        """Fill the slots; a paragraph of which nothing is left goes."""
        self.require(frozenset(values))
        paragraphs = (self._fill(piece, values) for piece in _PARAGRAPH.split(self.text))
        return "\n\n".join(paragraph for paragraph in paragraphs if paragraph.strip())

    def require(self, known: frozenset[str]) -> None:
        """Refuse slots that nothing fills."""
        if unknown := sorted(self.slots - known):
            names = ", ".join(f"{{{slot}}}" for slot in sorted(known))
            raise BadInput(f"prompt {self.name!r}", f"unknown slot {{{unknown[0]}}}; known are {names}")

    @staticmethod
    def _fill(paragraph: str, values: Mapping[str, str]) -> str:
        return _SLOT.sub(lambda match: f"{{{match[1]}}}" if match[1] else values[match[2]], paragraph).strip()


def template(name: str, text: str) -> Template:
    """Read a template; without a version line, the version is a digest of the text."""
    head = _VERSION.match(text)
    if head:
        body = text[head.end() :].strip()
        return Template(name, body, head[1], tuple(_HEADING.findall(body)))
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return Template(name, text.strip(), digest)


@dataclass(frozen=True, slots=True)
class Prompts:
    """All templates by name, checked."""

    templates: Mapping[str, Template]

    def render(self, name: str, **values: str) -> str:
        return self.templates[name].render(values)

    def form(self, prompt: str) -> Template:
        """Find a prompt by its name; a text of several words is a prompt itself."""
        if prompt in FORMS:
            return self.templates[prompt]
        if len(prompt.split()) > 1:
            return _custom(prompt)
        raise BadInput("prompt", f"unknown prompt {prompt!r}; one of {', '.join(FORMS)}, or a text")


def prompts(texts: Mapping[str, str]) -> Prompts:
    """Read the texts of all prompts."""
    return Prompts(MappingProxyType({name: template(name, text) for name, text in texts.items()}))


def _custom(text: str) -> Template:
    """Read a prompt of the user's; what it does not say about rules, length and focus is said at its end."""
    form = template(CUSTOM, text)
    form.require(FORM_SLOTS)
    missing = [f"{{{slot}}}" for slot in NEEDED if slot not in form.slots]
    return Template(CUSTOM, "\n\n".join([form.text, *missing]), form.version)
