import SQLiteDriver

/// The limits of scenarios, shell lines, results, logs, and arguments.
///
/// They're far above realistic values, and reject mistakes and hostile input before it costs memory
/// or time. Every error for input beyond a limit states the limit. `ModelLimits` and `StoreLimits`
/// contain those of the framework, which can't refer to this module; `Documentation/limits.md`
/// lists all of them.
package enum InputLimits {
  /// Sets SQLite's memory limit for all connections of the process.
  package static func limitSQLiteMemory() {
    Connection.limitMemory(toBytes: InputLimits.memory)
  }

  // MARK: SQLite

  /// The maximum memory of SQLite, for all connections, in bytes.
  ///
  /// A statement that needs more fails, and its connection can still be used.
  package static let memory: Int64 = 1 << 30

  // MARK: Arguments

  /// The maximum of `--repeat`, and of the repetitions of a `repeat` block.
  ///
  /// Each one is a complete run.
  package static let repeats = 1_000
  /// The maximum value of `--scale` and `--sizes`.
  ///
  /// Rows are multiplied by it.
  package static let scale = 1_000_000
  /// The maximum number of values of `--scale` and `--sizes`.
  ///
  /// Each is a complete run.
  package static let scales = 100
  /// The maximum of `--jobs`, the number of scenarios that run concurrently.
  ///
  /// Each has a thread and open files.
  package static let jobs = 256
  /// The maximum of `--every`, in seconds: a day.
  ///
  /// A longer interval shows nothing.
  package static let followInterval = 86_400
  /// The maximum length of `--commit`, in bytes; a hash has 40 or 64.
  ///
  /// It's in each line of a history.
  package static let commitName = 200
  /// The maximum number of `--label`.
  ///
  /// They're in each line of a report as JSON Lines.
  package static let labels = 20
  /// The maximum length of the value of `--label`, in bytes.
  ///
  /// It's in each line of a report as JSON Lines.
  package static let labelValue = 200
  /// The maximum number of files of a model that `--watch` compares.
  ///
  /// They're compared five times a second.
  package static let watchedFiles = 10_000
  /// The maximum size of the fixture of `export --migrations`, in bytes.
  ///
  /// It becomes a literal of the program.
  package static let fixtureSize = 16 << 20

  // MARK: Scenarios

  /// The maximum size of a scenario or a budget, in bytes.
  ///
  /// Typical ones have some kilobytes; the YAML parser's nodes take many times the size.
  package static let scenarioSize = 4_000_000
  /// The maximum nesting depth of brackets in YAML, and of `repeat` blocks in the shell.
  ///
  /// The parsers are recursive.
  package static let scenarioDepth = 100
  /// The maximum number of `-` and `?` in a line of YAML.
  ///
  /// Each can begin a nested value, which the parser reads recursively.
  package static let lineIndicators = 2_000
  /// The maximum number of alias uses in a YAML file.
  ///
  /// Aliases of aliases multiply.
  package static let aliases = 16
  /// The maximum number of values in a YAML file after its aliases are expanded.
  ///
  /// An alias of a large value is a copy of it.
  package static let expandedValues = 100_000
  /// The maximum count of numbers and names in an expression.
  ///
  /// It's evaluated for each variant and each scale.
  package static let terms = 200
  /// The maximum nesting depth of parentheses and signs in an expression.
  ///
  /// The parser is recursive.
  package static let expressionDepth = 64
  /// The maximum value of an expression, and of the rows and times in a result.
  ///
  /// Sums of a thousand of them can't overflow.
  package static let value = 1_000_000_000_000_000
  /// The maximum number of rows that a scenario generates for all entities and join tables.
  ///
  /// They're on disk twice, in the generated store and in the copy of a variant.
  package static let rows = 10_000_000
  /// The maximum number of steps that a scenario's `repeat` blocks, or one of the shell, add to
  /// those in the text.
  ///
  /// Each has its own costs in a result. The repetitions of a block are limited by `repeats`.
  package static let repeatedSteps = 10_000
  /// The maximum of `times`: the objects that a step inserts, or the change groups that it undoes;
  /// also of all objects that steps insert before a save.
  ///
  /// The objects are in memory until they're saved.
  package static let times = 1_000_000
  /// The maximum size of the values of the objects that steps insert before a save, in bytes: 16
  /// for each property, and the length of the values that the step assigns.
  ///
  /// The objects are in memory until they're saved.
  package static let unsavedSize = 256 << 20
  /// The maximum number of objects that the key paths of a `touch` or `walk` step reach.
  ///
  /// The to-many relationships of a key path multiply; this takes about a minute.
  package static let reachedObjects = 100_000_000
  /// The maximum value of `limit`, `offset`, `batch`, and `every`.
  ///
  /// Sums of them can't overflow.
  package static let objects = 1_000_000_000
  /// The maximum staleness interval, in seconds.
  ///
  /// In nanoseconds, it must fit in 64 bits.
  package static let seconds = 1e9

  // MARK: The shell

  /// The maximum length of a line, in bytes.
  ///
  /// Input without line feeds is otherwise read into memory indefinitely.
  package static let shellLine = 1 << 20
  /// The maximum length of a `repeat` block, in characters.
  ///
  /// The block is parsed again for each line until it's closed.
  package static let blockLength = 100_000
  /// The maximum size of a file for `source`, in bytes.
  ///
  /// It's read into memory at once.
  package static let sourceSize = 16 << 20
  /// The maximum number of rows that `.sqlite` prints.
  ///
  /// They're collected before they're printed.
  package static let printedRows = 100_000
  /// The maximum size of the strings and BLOBs that `.sqlite` prints, in bytes.
  ///
  /// They're collected before they're printed.
  package static let printedSize = 16 << 20

  // MARK: Results

  /// The maximum size of a result or another JSON file, in bytes.
  ///
  /// A result with many events has some megabytes; it's read into memory at once.
  package static let resultSize = 256 << 20
  /// The maximum nesting depth of JSON.
  ///
  /// The scanner and the decoder are recursive.
  package static let jsonDepth = 100
  /// The maximum number of marks of a track in a result's timeline.
  ///
  /// Sums of their times can't overflow.
  package static let timelineMarks = 500_000
  /// The maximum time of a mark in a result's timeline, in nanoseconds: about three hours.
  ///
  /// Sums of the times can't overflow.
  package static let timelineTime = 10_000_000_000_000

  // MARK: Logs

  /// The maximum length of a log line, in bytes; the rest of a longer line is discarded.
  ///
  /// It's the memory that an endless line takes.
  package static let logLine = 4 << 20
  /// The maximum size of a decompressed log, in bytes.
  ///
  /// gzip compresses a thousand to one, so a small file can take hours.
  package static let inflatedLog = 256 << 20
  /// The maximum number of lines that are joined to one if a log was wrapped at a column.
  ///
  /// Joining takes time in proportion to the square of the number.
  package static let joinedLines = 2_000
  /// The length at which further lines of a message are no longer added to it, in bytes.
  ///
  /// A message lists all values of a long `IN`.
  package static let logMessage = 1 << 16
  /// The maximum number of different statements in a log; further ones share an entry for each
  /// kind.
  ///
  /// Each has its own counts and samples; an app has fewer.
  package static let logStatements = 20_000
  /// The maximum number of nested statements in a log; beyond it, the oldest has no total time.
  ///
  /// Each statement without a time stays open.
  package static let openStatements = 64
  /// The maximum time in a log line, in microseconds: a day.
  ///
  /// A line with a longer time isn't recognized. Sums of the times can't overflow.
  package static let logTime = 86_400_000_000
  /// The maximum number of executions in the trace of a log; further ones are only counted.
  ///
  /// They're kept in memory, and a browser draws them.
  package static let tracedExecutions = 100_000
  /// The maximum distance from the first execution in the trace of a log, in seconds: a month.
  ///
  /// In nanoseconds, it must fit in 64 bits. An execution beyond it is only counted.
  package static let tracedTime = 2_678_400
  /// The maximum number of rows in a log line.
  ///
  /// A line with more isn't recognized. Sums of the rows can't overflow.
  package static let logRows = 1_000_000_000
  /// The maximum size of the different statements of a log, in bytes; further ones share an entry
  /// for each kind.
  ///
  /// A statement can be as long as a line.
  package static let logSQL = 64 << 20
  /// The maximum size of the bound values that are kept for the statements of a log, in bytes;
  /// further ones are ignored.
  ///
  /// A statement can be followed by any number of them.
  package static let logBinds = 64 << 20
  /// The maximum number of entities, and of relationships, whose faults are counted separately in a
  /// log; those of further ones are only part of the totals.
  ///
  /// A line can name any of them; a model has fewer.
  package static let logSubjects = 20_000
  /// The maximum number of entities and relationships in the findings of a log's statement; further
  /// ones are `?` together.
  ///
  /// The time to find one is in proportion to their number.
  package static let statementSubjects = 32
  /// The maximum length of a name in a log, in bytes; the rest of a longer one is discarded.
  ///
  /// Names of entities, relationships, sections, and threads are kept.
  package static let logName = 1_000
  /// The maximum number of threads of a log with an open statement or transaction; beyond it, their
  /// statements have no total time.
  ///
  /// Each has its own state.
  package static let logThreads = 20_000
  /// The maximum number of sections of a log; further ones are only part of the totals.
  ///
  /// Each has its own counts and findings.
  package static let logSections = 100_000
  /// The maximum number of statements that are kept for the sections of a log, added up; those of
  /// further sections aren't listed where an expectation isn't met.
  ///
  /// Each has its own counts.
  package static let sectionStatements = 500_000
  /// The maximum number of tables, entities, and relationships that are counted separately in the
  /// sections of a log, added up; in further sections, they're only part of the totals.
  ///
  /// Each has its own counts.
  package static let sectionSubjects = 500_000

  // MARK: The course in a browser

  /// The maximum number of connections that `serve` keeps open; further ones are closed.
  ///
  /// Each has a descriptor and a buffer.
  package static let connections = 64
  /// The maximum size of a request's line and headers, in bytes.
  ///
  /// They're read into memory before the token is known.
  package static let requestHead = 16 << 10
  /// The maximum size of a request's body, in bytes.
  ///
  /// It contains a scenario; it's read into memory at once.
  package static let requestBody = 1 << 20
  /// The time in which a client must send a request, and in which it must read the response, in
  /// seconds.
  ///
  /// A slow client otherwise keeps its connection open indefinitely.
  package static let requestTime = 20
  /// The maximum number of browser tabs with a session.
  ///
  /// Each can have a shell, which is a process with a store.
  package static let browserSessions = 16
  /// The time after which an unused session of a tab can be ended, in seconds: half an hour.
  ///
  /// Its shell otherwise runs until the server ends.
  package static let browserSessionTime = 1_800
  /// The maximum number of scenarios that run for browsers concurrently.
  ///
  /// Further ones wait.
  package static let browserRuns = 2
  /// The maximum number of runs that wait for others; further ones are rejected.
  ///
  /// Each has a connection that stays open.
  package static let waitingRuns = 16
  /// The time after which a run for a browser is stopped, in seconds, elapsed and of the processor.
  ///
  /// A lesson takes a few seconds.
  package static let browserRunTime = 60
  /// The time after which a line of a shell in a browser is stopped, in seconds.
  ///
  /// A step takes less than a second.
  package static let browserLineTime = 30
  /// The maximum processor time of a shell in a browser, in seconds: ten minutes.
  ///
  /// Half an hour of work takes some seconds.
  package static let browserShellTime = 600
  /// The maximum memory of a process that runs a scenario or a shell for a browser, in bytes.
  ///
  /// It's the address space, of which a lesson takes a quarter.
  package static let browserMemory = 2 << 30
  /// The maximum size of a file that such a process writes, in bytes.
  ///
  /// The store of a lesson has a few megabytes.
  package static let browserFileSize = 512 << 20
  /// The maximum length of a line of a shell in a browser, in bytes.
  ///
  /// A longer one might not fit into the pipe to the shell.
  package static let browserLine = 16 << 10
  /// The maximum length of the output of a line or of the messages of a run that a browser gets, in
  /// bytes; the rest is discarded.
  ///
  /// The page keeps it in memory.
  package static let browserOutput = 256 << 10
}
