"""The examples of `deploy/` say nothing that the program does not understand."""

from __future__ import annotations

import configparser
import re
import shlex
import stat
import subprocess
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml  # type: ignore[import-untyped]

from octavo.server.auth import TRUSTED_SECONDS
from octavo.server.config import Limits, read_server_settings
from octavo.server.guard import UPLOAD
from octavo.server.http_protocol import HEAD_SECONDS
from octavo.server.run import SHUTDOWN_SLACK
from octavo.store.jobs import LEASE

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
READ = [*ROOT.glob("src/octavo/settings.py"), *ROOT.glob("src/octavo/*/*.py")]
OTHERS = {"POSTGRES_USER", "POSTGRES_DB", "POSTGRES_PASSWORD_FILE"}
"""What the image of PostgreSQL reads."""


def known() -> set[str]:
    """List the variables that the program reads."""
    found: set[str] = set()
    for path in READ:
        found |= set(re.findall(r'"([A-Z][A-Z0-9]*_[A-Z0-9_]+)"', path.read_text("utf-8")))
    return found


def is_read(name: str) -> bool:
    names = known()
    return name in names or name.removesuffix("_FILE") in names


def check_command(words: list[str]) -> None:
    """Parse a command line of Octavo's as the program would, without running it."""
    group: Any = typer.main.get_command(import_module("octavo.cli.main").app)
    context = group.context_class(group)
    name, command, rest = group.resolve_command(context, words)
    command.make_context(name, rest, parent=context)


def test_a_command_with_an_option_that_does_not_exist_is_noticed() -> None:
    check_command(["serve", "--port", "1"])
    for wrong in (["serve", "--prot", "1"], ["serf"], ["serve", "--port", "many"]):
        with pytest.raises(Exception, match=r"prot|serf|valid integer"):
            check_command(wrong)


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
    return read


def test_the_compose_file_has_a_database_three_replicas_and_a_proxy(compose: dict[str, Any]) -> None:
    services = compose["services"]
    assert set(services) == {"postgres", "octavo", "proxy"}
    assert services["octavo"]["deploy"]["replicas"] == 3
    assert "ports" not in services["octavo"]
    for service in services.values():
        assert set(service.get("secrets", ())) <= set(compose["secrets"])
    built = services["octavo"]["build"]
    assert (DEPLOY / built["context"] / built["dockerfile"]).is_file()
    mounted = [volume.partition(":")[0] for volume in services["proxy"]["volumes"]]
    assert [(DEPLOY / name).is_file() for name in mounted] == [True]


@pytest.mark.parametrize("mask", ["077", "022", "002"])
def test_secrets_can_be_read_by_the_user_inside_and_by_nobody_else_outside(
    compose: dict[str, Any], tmp_path: Path, mask: str
) -> None:
    """A file secret is mounted as it is, so the user of the image, who is nobody here, must be able to read it."""
    head = (DEPLOY / "compose.yaml").read_text("utf-8").partition("\nname:")[0]
    steps = [line[4:] for line in head.splitlines() if line.startswith("#   ")]
    made = [step for step in steps if "secrets" in step]
    subprocess.run(["bash", "-ec", "\n".join([f"umask {mask}", *made])], cwd=tmp_path, check=True, timeout=60)
    assert stat.S_IMODE((tmp_path / "secrets").stat().st_mode) == 0o700
    named = [Path(secret["file"]) for secret in compose["secrets"].values()]
    assert {path.name for path in named} == {path.name for path in (tmp_path / "secrets").iterdir()}
    for path in named:
        assert stat.S_IMODE((tmp_path / path).stat().st_mode) & stat.S_IROTH
        assert (tmp_path / path).read_text().strip()


def test_every_variable_in_the_examples_is_read_by_the_program(compose: dict[str, Any]) -> None:
    given = dict(compose["services"]["octavo"]["environment"])
    unit = unit_file()
    given |= dict(line.split("=", 1) for line in unit["Service"]["environment"].splitlines())
    given |= dict(re.findall(r"^ENV (\w+)=(\S+)", (DEPLOY / "Dockerfile").read_text("utf-8"), re.MULTILINE))
    assert len(given) > 6
    assert [name for name in given if not is_read(name)] == []
    assert all(name in OTHERS for name in compose["services"]["postgres"]["environment"])
    read_server_settings({k: v for k, v in given.items() if not k.endswith("_FILE")})


def test_secrets_are_files_and_no_secret_is_in_a_file_here(compose: dict[str, Any]) -> None:
    for service in compose["services"].values():
        for name, value in service.get("environment", {}).items():
            if name.endswith("_FILE"):
                assert value.removeprefix("/run/secrets/") in service["secrets"]
            else:
                assert not re.search("PASSWORD|KEY|TOKEN", name)
    assert "secrets/" in (DEPLOY / ".gitignore").read_text("utf-8").split()


def unit_file() -> dict[str, dict[str, str]]:
    """Read the unit; what is said several times is joined by lines."""
    sections: dict[str, dict[str, str]] = {}
    section = ""
    for line in (DEPLOY / "octavo.service").read_text("utf-8").splitlines():
        if line.startswith("["):
            section = line.strip("[]")
            sections[section] = {}
        elif line and not line.startswith("#"):
            name, value = line.split("=", 1)
            before = sections[section].get(name.lower())
            sections[section][name.lower()] = value if before is None else f"{before}\n{value}"
    return sections


def test_the_unit_is_one_and_starts_a_command_that_exists() -> None:
    configparser.ConfigParser(strict=False, interpolation=None).read_string(
        (DEPLOY / "octavo.service").read_text("utf-8")
    )
    unit = unit_file()
    assert set(unit) == {"Unit", "Service", "Install"}
    command = shlex.split(unit["Service"]["execstart"])
    assert command[0].endswith("/octavo")
    check_command(command[1:])


def test_the_commands_of_the_images_exist(compose: dict[str, Any]) -> None:
    check_command(compose["services"]["octavo"]["command"])
    last = (DEPLOY / "Dockerfile").read_text("utf-8").rstrip().splitlines()[-1]
    check_command(yaml.safe_load(last.removeprefix("CMD ")))


def test_nobody_is_killed_before_their_grace_is_over(compose: dict[str, Any]) -> None:
    octavo, unit = compose["services"]["octavo"], unit_file()["Service"]
    given = dict(line.split("=", 1) for line in unit["environment"].splitlines())
    assert (
        int(octavo["stop_grace_period"].rstrip("s"))
        > int(octavo["environment"]["OCTAVO_GRACE"]) + SHUTDOWN_SLACK
    )
    assert int(unit["timeoutstopsec"]) > int(given["OCTAVO_GRACE"]) + SHUTDOWN_SLACK


def test_the_proxy_passes_streams_on_as_they_come_and_bodies_as_large_as_the_server_takes() -> None:
    text = (DEPLOY / "nginx.conf").read_text("utf-8")
    assert text.count("{") - text.count("{32}") == text.count("}") - text.count("{32}")
    for needed in (
        "proxy_buffering off;",
        "proxy_http_version 1.1;",
        'Connection "";',
        "hash $octavo_conversation",
    ):
        assert needed in text
    limits = Limits()
    assert f"client_max_body_size {limits.body >> 20}m;" in text
    assert f"client_max_body_size {limits.upload >> 20}m;" in text
    assert f"location = {UPLOAD} " in text
    silence = int(re.findall(r"proxy_read_timeout (\d+)s", text)[0])
    assert silence > limits.answer_seconds > limits.ping_seconds
    port = re.findall(r"server octavo:(\d+)", text)[0]
    assert f'"{port}"' in (DEPLOY / "compose.yaml").read_text("utf-8")


def test_the_page_for_operators_names_every_variable_of_the_server_and_no_other() -> None:
    page = (ROOT / "docs" / "operating.md").read_text("utf-8")
    config = (ROOT / "src" / "octavo" / "server" / "config.py").read_text("utf-8")
    named = set(re.findall(r"OCTAVO_[A-Z_]*[A-Z]", page))
    assert set(re.findall(r'"(OCTAVO_[A-Z_]+)"', config)) <= named
    assert [name for name in named if not is_read(name)] == []
    defaults = Limits()
    for shown in (
        f"{defaults.body >> 20} MiB",
        f"{defaults.upload >> 20} MiB",
        f"{defaults.burst}",
        f"{defaults.concurrency}",
    ):
        assert shown in page


def test_the_page_for_operators_tells_the_true_times() -> None:
    page = (ROOT / "docs" / "operating.md").read_text("utf-8")
    limits = Limits()
    assert f"{HEAD_SECONDS:.0f} s for the head" in page
    assert f"{limits.body_seconds:.0f} s for each piece" in page
    assert f"{limits.answer_seconds / 60:.0f} min to the first byte" in page
    assert f"least every {limits.ping_seconds:.0f} seconds" in page
    assert f"({LEASE:.0f} seconds)" in page
    assert TRUSTED_SECONDS == 5, "the page says: within five seconds"
