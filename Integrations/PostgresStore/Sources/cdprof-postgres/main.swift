import PostgresEngine
import WorkbenchCommands

ServerProgram(name: "cdprof-postgres", database: "PostgreSQL", example: "postgres:///test") {
  try PostgresServer($0, delay: $1)
}.start()
