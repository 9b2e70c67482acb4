"""SQLAlchemy 2 on the benchmark's files: does one piece of work and prints its nanoseconds.

    python3 sqlalchemy_arms.py fetch FILE
    python3 sqlalchemy_arms.py lookups FILE COUNT
    python3 sqlalchemy_arms.py prefetch FILE
    python3 sqlalchemy_arms.py insert FILE COUNT

What is timed ends with objects in a session's identity map, as in the framework. The tables are read
from the file, not declared.
"""

import random
import sys
from time import perf_counter_ns

from sqlalchemy import Engine, MetaData, Table, create_engine, event, select
from sqlalchemy.orm import Session, registry, relationship, selectinload


class Mood:
    pass


class Country:
    pass


@event.listens_for(Engine, "connect")
def pragmas(connection, _):
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")


def mapped(path):
    engine = create_engine(f"sqlite:///{path}")
    metadata = MetaData()
    mood = Table("ZMOOD", metadata, autoload_with=engine)
    country = Table("ZCOUNTRY", metadata, autoload_with=engine)
    mapper = registry()
    mapper.map_imperatively(Mood, mood)
    mapper.map_imperatively(
        Country,
        country,
        properties={
            "moods": relationship(
                Mood,
                primaryjoin=country.c.Z_PK == mood.c.ZCOUNTRY,
                foreign_keys=[mood.c.ZCOUNTRY],
                viewonly=True,
            )
        },
    )
    return engine


def timed(work):
    begin = perf_counter_ns()
    result = work()
    return result, perf_counter_ns() - begin


def main(kind, path, count=0):
    count = int(count)
    with Session(mapped(path)) as session:
        if kind == "fetch":
            _, time = timed(lambda: session.scalars(select(Mood)).all())
        elif kind == "lookups":
            keys = [row[0] for row in session.execute(select(Mood.Z_PK))]
            keys = random.Random(42).sample(keys, count)
            _, time = timed(lambda: [session.get(Mood, key) for key in keys])
        elif kind == "prefetch":
            request = select(Country).options(selectinload(Country.moods))
            _, time = timed(lambda: session.scalars(request).all())
        elif kind == "insert":

            def insert():
                for number in range(count):
                    mood = Mood()
                    mood.Z_PK, mood.Z_ENT, mood.Z_OPT = number + 1, 2, 1
                    mood.ZRANK, mood.ZSTAMP = number, number * 7
                    mood.ZVOTES, mood.ZFLAGS, mood.ZKIND = number % 1000, number % 64, number % 7
                    mood.ZLATITUDE, mood.ZLONGITUDE = number / 1000, -number / 1000
                    mood.ZNAME, mood.ZNOTE = f"mood number {number:04}", "a note of fifty " * 3
                    session.add(mood)
                session.commit()

            _, time = timed(insert)
        else:
            sys.exit(f"unknown work: {kind}")
    print(time)


main(*sys.argv[1:])
