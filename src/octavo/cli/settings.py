"""`settings` and `keys`: what holds for conversations, and who may use the server."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from octavo.cli.app import app
from octavo.cli.conversations import when
from octavo.cli.lines import Line, clean, line, table
from octavo.cli.options import AsJson, Db, complete_conversations, complete_models, complete_settings
from octavo.cli.printing import show, show_json, tell
from octavo.cli.setup import find_conversation, opened, run, setup_of, short
from octavo.core.json_values import Json, JsonObject
from octavo.errors import NotFound, UsageError

if TYPE_CHECKING:
    from octavo.engine.engine import Engine
    from octavo.store.values import ApiKey, Scope

settings = typer.Typer(
    help="Read and change settings.\n\n"
    "A setting holds for a conversation, for a model, or everywhere; the nearest one wins.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
keys = typer.Typer(
    help="Manage the keys of the HTTP API and the gateway.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(settings, name="settings")
app.add_typer(keys, name="keys")

Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME", show_default=False, help="The name of a setting.", autocompletion=complete_settings
    ),
]
ForModel = Annotated[
    str | None,
    typer.Option(
        "--model",
        "-m",
        metavar="MODEL",
        show_default=False,
        help="The setting for this model.",
        autocompletion=complete_models,
    ),
]
ForConversation = Annotated[
    str | None,
    typer.Option(
        "--conversation",
        "-c",
        metavar="CONVERSATION",
        show_default=False,
        help="The setting for this conversation.",
        autocompletion=complete_conversations,
    ),
]


async def scope_of(engine: Engine, model: str | None, conversation: str | None) -> Scope:
    from octavo.store import values

    if model and conversation:
        raise UsageError(
            "a setting is for a model or for a conversation: give --model or --conversation, not both"
        )
    if conversation:
        return values.ForConversation((await find_conversation(engine, conversation)).id)
    return values.ForModel(model) if model else values.Everywhere()


def value_text(value: Json) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return value if isinstance(value, str) else json.dumps(value)


@settings.command(
    "list",
    short_help="List every setting.",
    epilog="\b\nExamples:\n  octavo settings list\n  octavo settings list --conversation last --json",
)
def list_settings(
    context: typer.Context,
    *,
    model: ForModel = None,
    conversation: ForConversation = None,
    as_json: AsJson = False,
    db: Db = None,
) -> None:
    """List every setting: what holds, and what it is for."""
    setup = setup_of(context, db)

    async def look() -> dict[str, Json]:
        async with opened(setup) as engine:
            return await engine.settings.at(await scope_of(engine, model, conversation))

    found = run(look())
    if as_json:
        show_json(dict(found))
    else:
        show(setup, setting_lines(found))


def setting_lines(found: Mapping[str, Json]) -> Iterator[Line]:
    """List the settings: what was set, else what is built in."""
    from octavo.core.policy import preset
    from octavo.engine.settings import SETTINGS, built_in

    usual = built_in(preset(str(found.get("policy") or "octavo")))

    def shown(name: str) -> str:
        if found.get(name) not in (None, ""):
            return value_text(found[name])
        return f"{value_text(usual[name])} (built in)" if usual.get(name) is not None else "-"

    yield from table(
        [(setting.name, shown(setting.name), setting.meaning) for setting in SETTINGS.values()],
        head=("setting", "value", "what it is"),
    )


@settings.command(
    short_help="Print the value of a setting.",
    epilog="\b\nExamples:\n  octavo settings get model\n  octavo settings get soft --model gpt-4o",
)
def get(
    context: typer.Context,
    name: Name,
    *,
    model: ForModel = None,
    conversation: ForConversation = None,
    as_json: AsJson = False,
    db: Db = None,
) -> None:
    """Print the value of a setting as it holds; exit code 1 when it is not set."""
    setup = setup_of(context, db)

    async def look() -> Json:
        from octavo.engine.settings import check_setting

        check_setting(name, None)
        async with opened(setup) as engine:
            scope = await scope_of(engine, model, conversation)
            return (await engine.settings.at(scope)).get(name)

    value = run(look())
    if as_json:
        show_json(value)
    elif value in (None, ""):
        tell(setup, [line(f"{name} is not set: the built-in value holds")])
    else:
        show(setup, [line(clean(value_text(value)))])
    if value in (None, ""):
        raise typer.Exit(1)


@settings.command(
    "set",
    short_help="Set a setting.",
    epilog="\b\n"
    "Examples:\n"
    "  octavo settings set model gpt-4o\n"
    "  octavo settings set soft 0.7 --model gpt-4o\n"
    "  octavo settings set auto off --conversation last",
)
def set_setting(
    context: typer.Context,
    name: Name,
    value: Annotated[str, typer.Argument(metavar="VALUE", show_default=False, help="The new value.")],
    *,
    model: ForModel = None,
    conversation: ForConversation = None,
    db: Db = None,
) -> None:
    """Set a setting; what does not make sense is refused and changes nothing."""
    setup = setup_of(context, db)
    from octavo.engine.settings import find_setting

    chosen = find_setting(name).parse(value)

    async def work() -> None:
        async with opened(setup) as engine:
            await engine.settings.change(await scope_of(engine, model, conversation), {name: chosen})

    run(work())


@settings.command(
    short_help="Remove a setting.",
    epilog="\b\nExamples:\n  octavo settings unset soft --model gpt-4o",
)
def unset(
    context: typer.Context,
    name: Name,
    *,
    model: ForModel = None,
    conversation: ForConversation = None,
    db: Db = None,
) -> None:
    """Remove a setting at one level, so that the next one holds."""
    setup = setup_of(context, db)

    async def work() -> None:
        from octavo.engine.settings import check_setting

        check_setting(name, None)
        async with opened(setup) as engine:
            if not await engine.store.settings.remove(await scope_of(engine, model, conversation), name):
                raise NotFound(f"{name} is not set there; see: octavo settings list")

    run(work())


def key_json(key: ApiKey) -> JsonObject:
    return {
        "id": key.id,
        "name": key.name,
        "owner": key.owner,
        "prefix": key.prefix,
        "scopes": list(key.scopes),
        "created": key.created,
        "used": key.used,
        "revoked": key.revoked,
    }


@keys.command(
    short_help="Make a key.",
    epilog="\b\nExamples:\n  octavo keys create laptop\n  export KEY=$(octavo keys create ci --json | jq -r .secret)",
)
def create(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="NAME", show_default=False, help="A name that says what the key is for.")
    ],
    *,
    owner: Annotated[
        str,
        typer.Option(
            "--owner", metavar="NAME", show_default=False, help="The owner whose conversations the key opens."
        ),
    ] = "",
    scope: Annotated[
        list[str] | None,
        typer.Option(
            "--scope",
            metavar="NAME",
            show_default=False,
            help="What the key may do: read, write or admin. Repeat it for several; the default is read and write.",
        ),
    ] = None,
    as_json: AsJson = False,
    db: Db = None,
) -> None:
    """Make a key. Its secret is printed once and stored nowhere."""
    from octavo.store.keys import USUAL

    setup = setup_of(context, db)

    async def work() -> tuple[ApiKey, str]:
        async with opened(setup) as engine:
            return await engine.store.keys.create(name, owner=owner, scopes=scope or USUAL)

    made, secret = run(work())
    if as_json:
        show_json({**key_json(made), "secret": secret})
    else:
        tell(setup, [line(f"key {short(made.id)} for {clean(made.name)}; keep it, it is not shown again:")])
        show(setup, [line(secret)])


@keys.command("list", short_help="List the keys.", epilog="\b\nExamples:\n  octavo keys list")
def list_keys(context: typer.Context, *, as_json: AsJson = False, db: Db = None) -> None:
    """List the keys, without their secrets."""
    setup = setup_of(context, db)

    async def look() -> tuple[ApiKey, ...]:
        async with opened(setup) as engine:
            return await engine.store.keys.every()

    found = run(look())
    if as_json:
        show_json([key_json(key) for key in found])
        return
    rows = [
        (
            short(key.id),
            key.name,
            f"{key.prefix}...",
            ", ".join(key.scopes) or "nothing",
            "revoked" if key.revoked else "active",
            when(key.used) if key.used else "never",
        )
        for key in found
    ]
    show(
        setup, table(rows, head=("id", "name", "key", "may", "state", "used")) if rows else [line("no keys")]
    )


@keys.command(short_help="Revoke a key.", epilog="\b\nExamples:\n  octavo keys revoke 3f9a2c1b")
def revoke(
    context: typer.Context,
    key: Annotated[
        str,
        typer.Argument(
            metavar="KEY", show_default=False, help="The key: its id, the end of its id, or its name."
        ),
    ],
    *,
    as_json: AsJson = False,
    db: Db = None,
) -> None:
    """Revoke a key; whoever uses it is refused from now on."""
    setup = setup_of(context, db)

    async def work() -> ApiKey:
        async with opened(setup) as engine:
            every = await engine.store.keys.every()
            found = [one for one in every if key in (one.id, one.name, short(one.id))]
            if len(found) != 1:
                problem = f"{len(found)} keys are called {key!r}" if found else f"there is no key {key!r}"
                raise NotFound(f"{problem}; see: octavo keys list")
            return await engine.store.keys.revoke(found[0].id)

    gone = run(work())
    if as_json:
        show_json(key_json(gone))
    else:
        tell(setup, [line(f"revoked {short(gone.id)} {clean(gone.name)}")])
