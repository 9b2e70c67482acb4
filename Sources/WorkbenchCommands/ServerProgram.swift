import ArgumentParser
public import EngineInterface
import Foundation
import OpenCoreData
import Profiling
import ScenarioFiles
import ScenarioLanguage
import Synchronization
import WorkbenchText

/// A program with the commands of `cdprof` that run scenarios, over a database server instead of
/// SQLite.
///
/// The main file of a package's program is one call:
///
/// ```swift
/// ServerProgram(name: "cdprof-postgres", database: "PostgreSQL", example: "postgres:///test") { store, delay in
///   try PostgresServer(store, delay: delay)
/// }.start()
/// ```
public struct ServerProgram: Sendable {
  let name: String
  let database: String
  let example: String
  private let connect: @Sendable (_ store: String, _ delay: Duration) throws -> any DatabaseServer

  /// Describes a program.
  ///
  /// - Parameters:
  ///   - name: The name of the program.
  ///   - database: The name of the database for the help.
  ///   - example: A value of `--store` for the help.
  ///   - connect: Returns the server for the value of `--store`, on which each round trip takes
  ///     longer by a delay. Errors are printed, with passwords in URLs replaced.
  public init(
    name: String, database: String, example: String,
    connect:
      @escaping @Sendable (_ store: String, _ delay: Duration) throws -> any DatabaseServer
  ) {
    self.name = name
    self.database = database
    self.example = example
    self.connect = connect
  }

  /// Runs the program with the process's arguments, and exits with the status of the command: the
  /// same as `cdprof`'s.
  ///
  /// The stores on the server are removed before the process ends, even after Ctrl-C.
  public func start() -> Never {
    ServerProgram.running.withLock { $0 = self }
    Program(ServerCommands.self) {
      ServerProgram.server.withLock { $0 }?.removeAllStores()
    }.start()
  }

  /// The program of this process, which the help refers to.
  static let running = Mutex<ServerProgram?>(nil)
  /// The server that a command uses.
  private static let server = Mutex<(any DatabaseServer)?>(nil)

  /// Connects to the server of a command, or returns SQLite if no store is given.
  ///
  /// - Throws: The error of connecting.
  static func engine(_ options: ServerOptions) throws -> any StoreEngine {
    guard let store = options.store else { return SQLiteEngine() }
    guard let program = running.withLock({ $0 }) else {
      fatalError("a command runs in a program that was started")
    }
    let server = try program.connect(store, .seconds(options.delay / 1_000))
    Self.server.withLock { $0 = server }
    return ServerEngine(server, program: program.name)
  }
}

/// The commands of a program over a database server.
struct ServerCommands: ParsableCommand {
  static var configuration: CommandConfiguration {
    let program = ServerProgram.running.withLock { $0 }
    let (name, database) = (program?.name ?? "cdprof", program?.database ?? "")
    return CommandConfiguration(
      commandName: name,
      abstract: "Run cdprof's scenarios on \(database) instead of SQLite.",
      discussion: """
        Run a scenario:        \(name) run Scenarios/faults.yml --store \(program?.example ?? "")
        Over a slow network:   \(name) run Scenarios/faults.yml --store \(program?.example ?? "") --delay 20
        Find indexes:          \(name) advise Scenarios/faults.yml --store \(program?.example ?? "")
        """,
      version: Messages.version, subcommands: [ServerRun.self, ServerAdvise.self])
  }
}

/// The options of commands that use a database server.
struct ServerOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      The database in which to create stores, which are removed at the end; without it, SQLite is used. \
      Messages and reports don't contain the password.
      """, valueName: "url"))
  var store: String?

  @Option(
    help: ArgumentHelp(
      "Make each round trip to the server longer, as over a slow network.",
      valueName: "milliseconds"))
  var delay = 0.0

  /// The longest delay in milliseconds.
  private static let longest = 10_000.0

  func validate() throws {
    guard delay >= 0, delay <= Self.longest else {
      throw ValidationError("--delay must be from 0 to 10,000 milliseconds.")
    }
    guard store != nil || delay == 0 else {
      throw ValidationError("--delay needs --store: SQLite has no round trips.")
    }
  }

  /// Throws an error if an argument is a URL, which might have a password, instead of a file.
  static func check(_ files: [String]) throws {
    guard files.contains(where: { $0.contains("://") }) else { return }
    throw ValidationError("The URL of a database is the value of --store; the arguments are files.")
  }
}

/// `run` on a database server.
struct ServerRun: Executable {
  static var configuration: CommandConfiguration {
    var configuration = Run.configuration
    configuration.commandName = "run"
    configuration.discussion += """
      \u{20}Steps and data that need a SQLite file are rejected with status 65; expectations of SQLite's plans and of \
      its own counts aren't evaluated, which the report states. With --store, scenarios run one \
      after another unless --jobs is given.
      """
    return configuration
  }

  @OptionGroup var options: ServerOptions
  @OptionGroup var run: Run

  func validate() throws {
    try ServerOptions.check(run.files)
  }

  func execute(_ console: Console) throws -> ExitStatus {
    try run.execute(on: ServerProgram.engine(options), console)
  }
}

/// `advise` on a database server.
struct ServerAdvise: Executable {
  static let configuration = CommandConfiguration(
    commandName: "advise", abstract: "Find indexes for the statements of a scenario.",
    discussion: """
      Each index is created in a copy of the scenario's data, which is removed at the end. An index that the server \
      uses and that saves work is proposed, for the model and as SQL.
      """)

  @OptionGroup var options: ServerOptions

  @Argument(
    help: ArgumentHelp("A scenario; `-` for standard input.", valueName: "file"),
    completion: .scenarios)
  var file: String

  @Option(help: ArgumentHelp("The value of `scale` in the scenario.", valueName: "n"))
  var scale = 1

  @ArgumentParser.Flag(help: "Print JSON.")
  var json = false

  func validate() throws {
    try ServerOptions.check([file])
    if let problem = Messages.outOfRange("--scale", scale, upTo: InputLimits.scale) {
      throw ValidationError(problem)
    }
  }

  func execute(_ console: Console) throws -> ExitStatus {
    try InputFile.check(file)
    let scenario = try ScenarioReader.read(URL(fileURLWithPath: file), path: file)
    let engine = try ServerProgram.engine(options)
    let advice = try IndexAdviceSource.advice(for: scenario, scale: scale, on: engine)
    try Advise.write(advice, asJSON: json, console)
    return .success
  }
}
