"""Where the tests of a module are."""

from __future__ import annotations

from pathlib import Path

from scripts.mutants.bugs import ROOT

TESTS = ROOT / "tests"

NEAR: dict[str, tuple[str, ...]] = {
    "core/protocol.py": ("core/test_harden.py", "core/test_verify.py"),
    "core/reply.py": ("core/test_reply.py", "core/test_verify.py"),
    "core/snapshot.py": ("core/test_snapshot.py", "core/test_tree_properties.py"),
    "core/context.py": ("core/test_context.py", "core/test_tree_properties.py"),
    "core/summary.py": ("core/ask",),
    "core/tools.py": ("core/wire/test_tools.py",),
    "core/ask": ("core/ask",),
    "core/extract": ("core/extract",),
    "core/wire": ("core/wire",),
    "engine/turn.py": (
        "engine/test_turn.py",
        "engine/test_answer_draft.py",
        "engine/test_deadline.py",
        "engine/test_remote_count.py",
    ),
    "engine/history.py": (
        "gateway/test_branches.py",
        "integrations/test_view.py",
    ),
    "engine/overflow.py": ("engine/test_overflow.py", "engine/test_turn.py"),
    "engine/chat.py": ("engine/test_turn.py", "engine/test_branches.py", "engine/test_ownership.py"),
    "engine/engine.py": (
        "engine/test_models.py",
        "engine/test_attempts.py",
        "engine/test_turn.py",
        "engine/test_titles.py",
        "engine/test_retelling.py",
        "engine/test_spending.py",
    ),
    "engine/compression.py": (
        "engine/test_costs.py",
        "engine/test_compress.py",
        "engine/test_deadline.py",
        "engine/test_requirements.py",
        "engine/test_unwritten.py",
    ),
    "engine/worker_task.py": (
        "engine/test_worker.py",
        "engine/test_long_branch.py",
        "engine/test_compress.py",
    ),
    "engine/attempt.py": ("engine/test_attempts.py",),
    "engine/outcome.py": ("engine/test_unwritten.py", "engine/test_attempts.py"),
    "engine/recall_tool.py": ("engine/test_recall.py",),
    "engine/pdf_text.py": ("engine/test_documents.py",),
    "engine/answer_notes.py": ("engine/test_turn.py",),
    "engine/sample": ("engine/test_sample.py",),
    "engine/state.py": ("engine/test_turn.py", "engine/test_compress.py"),
    "engine/accept.py": ("engine/test_turn.py", "engine/test_stateless.py"),
    "store/walk.py": ("store/test_context.py", "store/test_tree.py"),
    "store/tree.py": ("store/test_context.py", "store/test_tree.py"),
    "store/messages.py": ("store/test_tree.py", "store/test_answers.py"),
    "store/insertion.py": ("store/test_tree.py", "store/test_answers.py"),
    "store/conversations.py": ("store/test_tree.py", "store/test_copying.py"),
    "store/deletion.py": ("store/test_deletion.py",),
    "store/notes.py": ("store/test_settings.py",),
    "store/rows.py": ("store/test_tree.py", "store/test_snapshots.py"),
    "store/store.py": ("store/test_tree.py", "store/test_snapshots.py", "store/test_files.py"),
    "store/parts.py": ("store/test_tree.py", "store/test_files.py"),
    "store/pins.py": ("store/test_pins.py", "store/test_context.py"),
    "store/keys.py": ("store/test_settings.py",),
    "store/section.py": ("store/test_tree.py", "store/test_copying.py"),
    "store/visibility.py": ("store/test_bin.py", "store/test_importing.py"),
    "store/clock.py": ("store/test_jobs.py",),
    "store/backup.py": ("store/test_files.py", "store/test_faults.py", "store/test_read_only.py"),
    "store/database.py": ("store/test_connection.py", "store/test_faults.py", "store/test_migrate.py"),
    "store/sqlite.py": ("store/test_connection.py", "store/test_faults.py", "store/test_files.py"),
    "store/postgresql.py": ("store/test_connection.py", "store/test_faults.py"),
    "store/schema.py": ("store/test_migrate.py", "store/test_tree.py"),
    "store/values.py": ("store/test_tree.py",),
    "store/transfer": ("store/test_transfer.py", "store/test_importing.py"),
}
"""Where the tests of a module are, if not in the file of its name; the longest beginning of its path decides."""
WIDE: dict[str, tuple[str, ...]] = {
    "core": ("core", "engine/test_stateless.py"),
    "engine": ("engine",),
    "store": ("store",),
}
SLOW = ("engine/test_bills.py", "engine/test_real_model.py", "store/test_processes.py")
"""What is left out of the tests of a package: minutes for each bug, and about other things."""


def near(module: str) -> tuple[str, ...]:
    """Name the files or folders with the tests of a module."""
    named = max((name for name in NEAR if module.startswith(name)), key=len, default="")
    own = Path(module).with_name(f"test_{Path(module).name}").as_posix()
    mine = (own,) if (TESTS / own).exists() else ()
    return tuple(dict.fromkeys((*mine, *NEAR.get(named, ())))) or WIDE[module.split("/")[0]]


def tests_of(package: str) -> list[str]:
    """List the files of all tests that bugs in a package may meet."""
    named = [name for module, names in NEAR.items() if module.startswith(f"{package}/") for name in names]
    return files_of((*WIDE[package], *named))


def files_of(names: tuple[str, ...]) -> list[str]:
    """List the files of tests below some names, as paths from the root of the project."""
    found = []
    for name in names:
        files = sorted((TESTS / name).rglob("test_*.py")) if (TESTS / name).is_dir() else [TESTS / name]
        found += [file.relative_to(ROOT).as_posix() for file in files]
    return [file for file in dict.fromkeys(found) if file.removeprefix("tests/") not in SLOW]
