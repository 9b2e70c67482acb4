"""Logs of two releases of an app, the answers that follow from their parameters, and two results of runs."""

from dataclasses import dataclass
from pathlib import Path

BEFORE, AFTER = "1.9", "1.10"


@dataclass
class Statement:
    """A statement, with a value for each release: executions in a log, rows and 0.1 ms of an execution."""

    sql: str
    executions: tuple[int, int]
    rows: tuple[int, int] = (0, 0)
    time: tuple[int, int] | None = None
    fault: str | None = None
    normalized: str | None = None

    @property
    def key(self):
        return self.normalized or self.sql

    def at(self, release):
        """The executions, rows, and time in a release."""
        index = (BEFORE, AFTER).index(release)
        return self.executions[index], self.rows[index], self.time[index] if self.time else None


FETCHES = [
    Statement("SELECT 0, t0.Z_PK, t0.ZDATE FROM ZMOOD t0 ORDER BY t0.ZDATE DESC", (20, 20), (50, 50), (30, 30)),
    # The lists have 1 to 7 elements in the first release, and 8 to 14 in the second.
    Statement("SELECT 0, t0.Z_PK, t0.ZNAME FROM ZCONTINENT t0 WHERE  t0.Z_PK IN  (%s)", (30, 30), (5, 5), (4, 4),
              normalized="SELECT 0, t0.Z_PK, t0.ZNAME FROM ZCONTINENT t0 WHERE t0.Z_PK IN (?)"),
    # Grew in time.
    Statement("SELECT COUNT( DISTINCT t0.Z_PK) FROM ZMOOD t0 WHERE t0.ZNOTE LIKE ?", (10, 10), (1, 1), (20, 90)),
    # Grew in rows.
    Statement("SELECT 0, t0.Z_PK, t0.ZTITLE FROM ZTAG t0 ORDER BY t0.ZTITLE", (12, 12), (20, 200), (11, 11)),
    # Gone, and new.
    Statement("SELECT 0, t0.Z_PK FROM ZDRAFT t0", (3, 0), (9, 0), (6, 0)),
    Statement("SELECT 0, t0.Z_PK FROM ZPLACE t0", (0, 6), (0, 8), (0, 7)),
]
# Grew in executions: in the first release, a storm in each fourth log only.
FAULT = Statement("SELECT 0, t0.Z_PK, t0.Z_OPT FROM ZCOUNTRY t0 WHERE t0.Z_PK = ? LIMIT 1", (4, 40), (1, 1), (2, 2),
                  fault="Country")
CHANGES = [
    Statement("BEGIN EXCLUSIVE", (8, 8)),
    Statement("UPDATE ZMOOD SET ZRATING = ?, Z_OPT = ? WHERE Z_PK = ? AND Z_OPT = ?", (8, 8)),
    Statement("COMMIT", (8, 8)),
]
STORM_OF_EACH_FOURTH = 40


@dataclass
class Total:
    """The executions of a statement in a log, the rows and the 0.1 ms of each."""

    release: str
    log: str
    statement: Statement
    executions: int
    rows: int
    time: int | None


class Fleet:
    """The parameters of the logs: three fifths of them are of the first release."""

    def __init__(self, logs):
        # So that the remainders below occur equally often in both releases.
        assert logs % 100 == 0, "the number of logs must be divisible by 100"
        self.logs = {BEFORE: logs * 3 // 5, AFTER: logs * 2 // 5}
        self.totals = [total for release in self.logs for device in range(self.logs[release])
                       for total in self.totals_of(release, device)]

    def totals_of(self, release, device):
        for statement in FETCHES + [FAULT] + CHANGES:
            executions, rows, time = statement.at(release)
            if statement is FAULT and release == BEFORE and device % 4 == 0:
                executions = STORM_OF_EACH_FOURTH
            # There are five kinds of devices; the slowest take five times as long as the fastest.
            if time is not None:
                time *= 1 + device % 5
            if executions > 0:
                yield Total(release, f"fleet/{release}/phone-{device}.log", statement, executions, rows, time)

    def write(self, folder):
        """Writes the logs, and returns the number of lines and bytes."""
        lines = size = 0
        by_log = {}
        for total in self.totals:
            by_log.setdefault(total.log, []).append(total)
        for path, totals in by_log.items():
            text = "".join(self.lines(totals))
            lines += text.count("\n")
            size += len(text)
            file = Path(folder, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return lines, size

    @staticmethod
    def lines(totals):
        ticks = 0

        def line(text):
            nonlocal ticks
            ticks += 1
            at = f"2026-11-27 12:{ticks // 60000 % 60:02}:{ticks // 1000 % 60:02}.{ticks % 1000:03}000+0100"
            return f"{at} Moody[7:1] {text}\n"

        for total in totals:
            for number in range(total.executions):
                sql = total.statement.sql
                if "%s" in sql:
                    sql %= ",".join("?" * ((1 if total.release == BEFORE else 8) + number % 7))
                yield line(f"CoreData: sql: {sql}")
                if total.time is not None:
                    time = f"{total.time / 1e4:.4f}s"
                    yield line(f"CoreData: annotation: sql connection fetch time: {time}")
                    yield line(f"CoreData: annotation: total fetch execution time: {time} for {total.rows} rows.")
                if total.statement.fault:
                    yield line("CoreData: annotation: fault fulfilled from database for : 0xd0 <x-coredata://"
                               f"0783522F-1851-4BC7-AE0D-AB4C83489E8B/{total.statement.fault}/p{number}>")
                yield line(f"showing row {number}")


def scenario(counts):
    """A scenario that counts a number of times: as many SELECTs."""
    return f"""name: Count
model: Moody
data: {{Continent: {{count: 1}}}}
steps:
  - repeat: {counts}
    steps: [{{count: Continent}}]
variants: [{{name: all}}]
"""


# The counts of the scenario in each release.
COUNTS = {BEFORE: 2, AFTER: 5}
