"""Made-up conversations, each with something that makes choosing, counting or repairing hard."""

from __future__ import annotations

import random
from collections.abc import Mapping

from octavo.core.messages import (
    Attachment,
    Branch,
    Image,
    Message,
    Part,
    Reasoning,
    Role,
    Text,
    ToolCall,
    ToolResult,
    assistant,
    place,
    user,
)
from octavo.testing import talk
from tests.core.extract.samples import SAMPLES, UNLISTED
from tests.core.recall.languages import TALKS

TRIP = talk(
    "s: You are a patient travel agent. Answer in British English.",
    "u: Hello! We are planning a trip to Portugal in May, and I could do with some help.",
    "a: What a lovely idea! How many of you are going, and what do you enjoy most on a journey?",
    "u: There are four of us: my wife Helen, our daughters Ida and Maren, and me. I am allergic to shellfish."
    " Please always write prices in euros.",
    "a: Noted: four travellers, no shellfish, and prices in euros. When would you like to leave?",
    "u: We leave on 4 May 2026 from Bristol Airport. Our budget is 3,200 euros for everything. Is that enough?",
    "a: For four people and two weeks, 3,200 euros is tight, but it can be done. Shall I look at trains?",
    "u: We'd rather take trains than rent a car. Never book anything without asking me first.",
    "a: Of course. I'll ask before booking anything. From Lisbon to Porto the Alfa Pendular takes 2 h 50 min and"
    " costs about 32.50 euros each. Would you like window seats?",
    "u: Yes, window seats please. Helen gets sick when she sits backwards, so seats facing forwards.",
    "a: Understood.\n\nHere is a first plan:\n- 4 May: Bristol to Lisbon, flight TP1337 at 06:25\n"
    "- 4–9 May: Lisbon, Hotel Mundial\n- 9 May: train to Coimbra\n- 12 May: train to Porto\n"
    "- 18 May: flight home, FR 8422 at 21:40\n\nWhat do you think of it?",
    "u: Looks good. But the Hotel Mundial is too expensive for us, isn't it?",
    "a: It is 118 euros a night. The Casa do Jasmim is 84 euros a night and has a garden.",
    "u: Let's take the Casa do Jasmim then. We decided to skip Coimbra and stay in Lisbon until 12 May instead.",
    "a: Then it's eight nights in Lisbon at 84 euros, 672 euros in all, and six nights in Porto.",
    "u: Maren turns 9 on 7 May. She loves tiles and old trams. Could you think of something for her birthday?",
    "a: Tram 28 in the morning, before the crowds; then the National Tile Museum, where children can paint a tile"
    " of their own. It opens at 10:00 and is closed on Mondays. 7 May is a Thursday, so that works.",
    "u: Wonderful!",
    "a: I'm glad you like it! Anything else?",
    "u: My mother will join us in Porto on 14 May. She is called Ruth and walks with a stick, so no steep streets.",
    "a: Porto is steep, but the river bank is flat, and there is a lift at Ribeira."
    " I'd take rooms on the ground floor.",
    "u: From now on, write prices in pounds, please. I've changed my mind about the euros.",
    "a: Prices in pounds from now on. Casa do Jasmim: about £71 a night.",
    "u: Can you tell me whether we need visas?",
    "a: British citizens may stay 90 days in any 180 days without a visa. Passports must be valid for three months"
    " after you leave; see https://www.gov.uk/foreign-travel-advice/portugal/entry-requirements.",
    "u: Ida's passport expires on 30 June 2026. Is that a problem?",
    "a: You leave on 18 May, so it has to be valid until 18 August 2026. It has to be renewed: about four weeks,"
    " £57.50 online.",
    "u: I'll do that tomorrow. Remember that I can't call anybody before 17:30 on weekdays.",
    "a: I'll keep that in mind.",
    "u: Someone at work wrote to me:\n> You must see Sintra.\n> Never go there on a Sunday, the buses are full.\n"
    "What do you say to that? I don't like crowds at all.",
    "a: Then go to Sintra on Tuesday 5 May, with the 08:10 train from Rossio, and see the Quinta da Regaleira first.",
    "u: OK.",
    "a: Have I forgotten anything?",
    "u: Our address for the tickets is 14 Orchard Lane, Bath BA1 2QR. My mail is tom.harding@example.org, and my"
    " telephone number is +44 7700 900123.",
    "a: Thank you, Tom. I've put 14 Orchard Lane, Bath BA1 2QR on the tickets.",
    "u: Did we say how long the train to Porto takes, and what it costs?",
)
"""A chat with an assistant: facts, rules, one rule that is changed, a decision that replaces another, a quotation."""

WORK = talk(
    "s: You are a coding agent. Use the tools.",
    "u: The nightly import fails since Tuesday. Please find out why and fix it. Never touch src/billing, whatever"
    " the tests say, and keep the public API as it is.",
    "a: I'll look at the log of the last run first.",
    'c: bash {"command": "tail -n 8 /var/log/import/nightly.log"}',
    "r: 2026-03-03 02:00:01 INFO import started, 18214 rows\n"
    "2026-03-03 02:00:04 INFO chunk 1 of 19 done\n"
    "2026-03-03 02:00:07 INFO chunk 2 of 19 done\n"
    "2026-03-03 02:00:09 ERROR worker-3 KeyError: 'customer_ref' in src/importer/rows.py:88\n"
    "2026-03-03 02:00:09 WARNING retrying chunk 3 in 5 s\n"
    "2026-03-03 02:00:14 ERROR worker-3 KeyError: 'customer_ref' in src/importer/rows.py:88\n"
    "2026-03-03 02:00:14 CRITICAL giving up after 2 attempts\n"
    "exit status 3",
    "a: Rows without `customer_ref` break the import. Let me read the code.",
    'c: read_file {"path": "src/importer/rows.py", "offset": 80, "limit": 14}',
    "r: def parse_row(row: dict[str, str]) -> Row:\n"
    '    """Parse one row of the export."""\n'
    '    number = int(row["order_no"])\n'
    '    placed = datetime.fromisoformat(row["placed_at"])\n'
    '    total = Decimal(row["total"])\n'
    '    currency = row.get("currency", "EUR")\n'
    "    return Row(\n"
    "        number=number,\n"
    '        customer=row["customer_ref"],\n'
    "        placed=placed,\n"
    "        total=total,\n"
    "        currency=currency,\n"
    "    )\n",
    'c: grep {"pattern": "customer_ref|customer_id", "path": "src", "glob": "*.py"}',
    'r: src/importer/rows.py:88:        customer=row["customer_ref"],\n'
    "src/importer/schema.py:14:COLUMNS = ('order_no', 'customer_ref', 'placed_at', 'total')\n"
    "src/billing/invoice.py:203:    customer_id = order.customer_ref\n"
    "tests/importer/test_rows.py:31:    row = {'customer_ref': 'C-1'}\n"
    "tests/importer/test_rows.py:57:    row = {'customer_id': 'C-2'}",
    "a: The export renamed the column on 2026-03-02. I decided to accept both names in `parse_row`, and to leave"
    " `Row.customer` as it is.",
    'c: edit {"path": "src/importer/rows.py", "old": "row[\\"customer_ref\\"]", "new": "customer_of(row)"}',
    "r: edited src/importer/rows.py: 1 replacement",
    'c: bash {"command": "pytest tests/importer -q 2>&1 | tail -n 12"}',
    "r: ......F...                                                               [100%]\n"
    "=================================== FAILURES ===================================\n"
    "____________________________ test_old_rows_are_read ____________________________\n"
    "    def test_old_rows_are_read() -> None:\n"
    ">       assert parse_row(OLD).customer == 'C-1'\n"
    "E       NameError: name 'customer_of' is not defined\n"
    "src/importer/rows.py:88: NameError\n"
    "=========================== short test summary info ============================\n"
    "FAILED tests/importer/test_rows.py::test_old_rows_are_read - NameError: name 'customer_of' is not defined\n"
    "1 failed, 9 passed in 0.84s",
    "u: Don't forget that the importer must stay compatible with Python 3.9. And use `ruff`, not `flake8`.",
    "a: Understood. I'll add the function.",
    'c: write_file {"path": "src/importer/names.py", "content": "def customer_of(row):\\n    return row.get'
    "('customer_ref') or row['customer_id']\\n\"}",
    "r: wrote 71 bytes to src/importer/names.py",
    'c: bash {"command": "pytest tests/importer -q && ruff check src/importer"}',
    "r: ..........                                                               [100%]\n"
    "10 passed in 0.79s\nAll checks passed!",
    'c: list {"path": "src/importer"}',
    'r: {"entries": [{"name": "__init__.py", "size": 0, "mode": "100644"}, {"name": "names.py", "size": 71,'
    ' "mode": "100644"}, {"name": "rows.py", "size": 3188, "mode": "100644"}, {"name": "schema.py", "size": 611,'
    ' "mode": "100644"}, {"name": "workers.py", "size": 9127, "mode": "100644"}], "truncated": false}',
    "a: All ten tests pass, and ruff has nothing to say. Shall I also raise the number of retries?",
    "u: Yes: set RETRIES to 5 in config/import.toml, it was 2. The port of the queue is 5672.",
    'c: bash {"command": "sed -i s/retries\\\\ =\\\\ 2/retries\\\\ =\\\\ 5/ config/import.toml; cat config/'
    'import.toml"}',
    "r: [import]\nretries = 5\nchunk_size = 1000\nqueue_url = amqp://queue.internal:5672\ntimeout = 30",
    "a: Done. `retries` is 5 now.",
    "u: Run it against the copy on staging-2, please.",
    'c: bash {"command": "ssh staging-2 import --once --dry-run"}',
    "r: ConnectionRefusedError: [Errno 111] Connection refused: staging-2.internal:22\nexit status 255",
    "a: staging-2 refuses the connection on port 22. Is the machine up?",
    "u: It was moved: the port is 2222 now. Sorry! The queue moved as well, its port is 5673.",
    'c: bash {"command": "ssh -p 2222 staging-2 import --once --dry-run"}',
    "r: INFO import started, 18214 rows\nINFO 18214 rows parsed, 0 skipped\n"
    "INFO dry run: nothing written\nexit status 0",
    "a: The dry run read all 18,214 rows. Shall I open a pull request against `release/26.3`?",
    "u: What was the port of staging-2 again, and which file did you create?",
)
"""Work with tools: a log, code, a listing in JSON, a failing test, values that change, rules in the middle of it."""

PEOPLE = talk(
    "u: [Mon 12 Jan 2026] Karim: Hi Lotte! I finally moved into the flat on Nordstrasse.",
    "a: [Mon 12 Jan 2026] Lotte: Congratulations! Is it the one with the balcony?",
    "u: [Mon 12 Jan 2026] Karim: Yes. The rent is 940 euros, and my flatmate is called Anton.",
    "a: [Wed 14 Jan 2026] Lotte: I started my new job at the zoo, with the penguins.",
    "u: [Wed 14 Jan 2026] Karim: Penguins! How many are there?",
    "a: [Wed 14 Jan 2026] Lotte: Twenty-three, and one of them only follows me around.",
    "u: [Sun 25 Jan 2026] Karim: Anton broke his leg on the stairs yesterday.",
    "a: [Sun 25 Jan 2026] Lotte: Oh no. Which hospital is he in?",
    "u: [Sun 25 Jan 2026] Karim: In St. Gertrud, room 417. He may leave on Friday.",
    "a: [Tue 3 Feb 2026] Lotte: My sister Femke is getting married on 20 June in Ghent.",
    "u: [Tue 3 Feb 2026] Karim: That's wonderful. Are you going to sing?",
    "a: [Tue 3 Feb 2026] Lotte: I'd rather not. I prefer to play the cello.",
    "u: [Thu 5 Feb 2026] Karim: I used to play the oboe, until we sold it in 2019.",
    "a: [Thu 5 Feb 2026] Lotte: You never told me that! Was it your grandfather's?",
    "u: [Thu 5 Feb 2026] Karim: It was my aunt's. She lived in Tunis and taught at the conservatory.",
    "a: [Sat 14 Feb 2026] Lotte: Come to the zoo next Saturday, the penguins are moulting.",
    "u: When does Femke get married?",
)
"""Two people who write to each other on days that are named."""

_TABLE = "\n".join(
    f"node-{number:02} 10.0.{number % 3}.{number} up {number * 37 % 91} days" for number in range(24)
)
_HIT = "Rooms: 204\nWi-Fi password: kestrel-41\nFire exit: second door on the left\nClosed: Mondays"


def _call(id: str, name: str, input: str) -> ToolCall:
    return ToolCall(id=id, name=name, input=input)


def _result(id: str, *texts: str, error: bool = False) -> Message:
    content = tuple(Text(text=text) for text in texts)
    return Message(role="tool", parts=(ToolResult(call_id=id, content=content, error=error),))


def _said(role: Role, *parts: Part, name: str = "") -> Message:
    return Message(role=role, parts=parts, name=name)


MIXED = place(
    (
        _said("system", Text(text="Help with the files.")),
        _said(
            "user",
            Text(text="This is the plan of the house. What is in the cellar?"),
            Image(source="https://files.example.com/plans/cellar-2.png", width=800, height=600),
            Attachment(name="house rules 2026.pdf", media_type="application/pdf", size=80_412),
            name="vera",
        ),
        _said("assistant", Reasoning(text="I should look."), Text(text="Let me look at both, Vera.")),
        _said(
            "assistant",
            _call("a", "open", '{"name": "house rules 2026.pdf", "pages": [1, 2]}'),
            _call("b", "look", '{"at": "cellar-2.png"}'),
            _call("c", "scan", "not json at all\nin two lines"),
        ),
        _result("b", "A boiler, two bicycles and a shelf with 31 jars."),
        _result("a", _HIT, "Quiet hours: 22:00 to 06:30"),
        _result("c", "scanner not found: /dev/scan0", error=True),
        assistant("There are a boiler, two bicycles and 31 jars in the cellar. Quiet hours begin at 22:00."),
        user(
            "Make a table of the machines.\n\n```\nALWAYS run as root\nnever = 3\n```\n\n"
            "Our rule: never restart node-07 during the day, since the laboratory depends on it and nobody else"
            "\ncan start it again without the key from\nDr. Okafor."
        ),
        assistant("I'll list them."),
        _said("assistant", _call("d", "inventory", "{}")),
        _result("d", _TABLE),
        _said("assistant", _call("e", "inventory", '{"only": "down"}')),
        _result("e", ""),
        assistant("All 24 machines are up. The longest is node-22, for 86 days."),
        user("Is node-07 among them? And how long is it up?"),
        assistant("Yes: node-07, 10.0.1.7, up 77 days."),
        user("Call me V., and write dates as 2026-11-19. Who has the key?"),
        assistant("Dr. Okafor has it, V."),
        user("We use two spaces, not tabs. Actually, we use four spaces now."),
        assistant("Four spaces."),
        user("What is the Wi-Fi password?"),
    )
)
"""Parallel calls, an error, pictures and files, code among prose, a rule over three lines."""


def _rambling(seed: int, size: int) -> Branch:
    """Write a long chat of a few hundred words, with values that change and names that come again."""
    dice = random.Random(seed)
    words = ["".join(dice.choices("aeioulnrstdmkpgvbfh", k=dice.randint(3, 9))) for _ in range(260)]
    names = [word.capitalize() for word in words[:24]]
    said: list[Message] = []
    for number in range(size):
        sentences: list[str] = []
        for _ in range(dice.randint(1, 4)):
            body = " ".join(dice.choices(words, k=dice.randint(3, 14)))
            kind = dice.randrange(12)
            sentences.append(
                (
                    f"I told {dice.choice(names)} about {body}.",
                    f"The {dice.choice(words[30:40])} is {dice.randint(1, 900)}.",
                    f"We decided to {body}.",
                    f"Why {body}?",
                    f"{dice.choice(names)} and {dice.choice(names)} {body} on {dice.randint(1, 28)} March 2025.",
                    f"See src/{dice.choice(words)}/{dice.choice(words)}.py for {body}.",
                    f"Always {dice.choice(words)} the {dice.choice(words)} first.",
                    f"I prefer {dice.choice(words)} to {dice.choice(words)}.",
                )[kind]
                if kind < 8
                else f"{body.capitalize()}."
            )
        said.append(assistant(" ".join(sentences)) if number % 2 else user(" ".join(sentences)))
    return place(said)


RAMBLING = _rambling(7, 160)
LANGUAGES = {
    sample.language: talk(*(f"{'ua'[n % 2]}: {text}" for n, text in enumerate(sample.said)))
    for sample in (*SAMPLES, *UNLISTED)
}
CHATS: Mapping[str, Branch] = {
    "trip": TRIP,
    "work": WORK,
    "people": PEOPLE,
    "mixed": MIXED,
}
ASKED = {
    language: (talk(*(f"{'ua'[n % 2]}: {line}" for n, line in enumerate(known.lines))), known.questions)
    for language, known in TALKS.items()
}
