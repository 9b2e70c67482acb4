// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
]

let package = Package(
  name: "cdprof",
  products: [
    .library(name: "OpenCoreData", targets: ["OpenCoreData"]),
    .library(name: "CoreDataCosts", targets: ["CoreDataCosts"]),
    .executable(name: "cdprof", targets: ["cdprof"]),
    // For programs with the same commands over another database.
    .library(name: "WorkbenchCommands", targets: ["WorkbenchCommands", "EngineInterface"]),
    // For the benchmark, which reads logs and records events.
    .library(name: "LogAnalysis", targets: ["LogAnalysis"]),
    .library(name: "RunResults", targets: ["RunResults"]),
    .plugin(name: "CoreDataModelPlugin", targets: ["CoreDataModelPlugin"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
    .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
  ],
  targets: [
    // C libraries of the system.
    .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CReadline", providers: [.apt(["libreadline-dev"])]),
    .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CStackFrames"),
    .systemLibrary(name: "CSandbox"),
    // Pages, scripts, and sources of exported programs, which are compiled into the program.
    .target(name: "CEmbeddedFiles"),

    // The framework, from the leaf up. Dependencies point down only; ARCHITECTURE.md has the diagram.
    .target(name: "ProfileEvents", dependencies: ["CStackFrames"]),
    .target(name: "SQLiteDriver", dependencies: ["CSQLite", "ProfileEvents"]),
    .target(name: "ManagedModel", dependencies: ["CZlib"]),
    .target(name: "OpenCoreData", dependencies: ["ManagedModel", "SQLiteDriver", "ProfileEvents"]),

    // Classes generated from models, and the build plugin.
    .target(name: "ModelCode", dependencies: ["ManagedModel"]),
    .executableTarget(name: "ModelCodeTool", dependencies: ["ModelCode", "ManagedModel"]),
    .plugin(
      name: "CoreDataModelPlugin", capability: .buildTool(), dependencies: ["ModelCodeTool"],
      path: "Sources/CoreDataModelPlugin"),

    // The man pages, generated from the program's help and Documentation/cli.md.
    .executableTarget(name: "ManualTool"),

    // The workbench.
    .target(name: "EngineInterface", dependencies: ["OpenCoreData"]),
    .target(name: "CoreDataCosts", dependencies: ["OpenCoreData", "ProfileEvents"]),
    .target(
      name: "WorkbenchText", dependencies: ["ManagedModel", "SQLiteDriver", "ProfileEvents"]),
    .target(
      name: "StatementAnalysis",
      dependencies: ["WorkbenchText", "ManagedModel", "SQLiteDriver", "ProfileEvents"]),
    .target(
      name: "ScenarioLanguage",
      dependencies: [
        "WorkbenchText", "ManagedModel", "ModelCode", "ProfileEvents", "SQLiteDriver",
        "CEmbeddedFiles",
      ]),
    .target(
      name: "ScenarioFiles",
      dependencies: [
        "WorkbenchText", "ScenarioLanguage", "OpenCoreData", "SQLiteDriver", "ProfileEvents",
        .product(name: "Yams", package: "Yams"),
      ]),
    .target(
      name: "RunResults",
      dependencies: [
        "WorkbenchText", "StatementAnalysis", "ScenarioLanguage", "ManagedModel", "SQLiteDriver",
        "ProfileEvents",
      ]),
    .target(
      name: "LogAnalysis",
      dependencies: [
        "WorkbenchText", "StatementAnalysis", "ScenarioLanguage", "ManagedModel", "SQLiteDriver",
        "ProfileEvents",
      ]),
    .target(
      name: "RunReports",
      dependencies: [
        "WorkbenchText", "StatementAnalysis", "ScenarioLanguage", "RunResults", "LogAnalysis",
        "ManagedModel", "ProfileEvents", "CEmbeddedFiles",
        .product(name: "Mustache", package: "swift-mustache"),
      ],
      exclude: [
        "Reports/Resources", "Course/Resources", "Logs/Resources", "Baselines/Resources",
      ]),
    .target(
      name: "StoreTools",
      dependencies: ["WorkbenchText", "StatementAnalysis", "OpenCoreData", "SQLiteDriver"]),
    .target(
      name: "MigrationTools",
      dependencies: [
        "WorkbenchText", "RunResults", "RunReports", "StoreTools", "OpenCoreData", "SQLiteDriver",
        "CEmbeddedFiles",
      ],
      exclude: ["Resources"]),
    .target(
      name: "Profiling",
      dependencies: [
        "WorkbenchText", "StatementAnalysis", "ScenarioLanguage", "RunResults", "EngineInterface",
        "OpenCoreData", "SQLiteDriver", "ProfileEvents",
      ]),
    .target(
      name: "WorkbenchShell",
      dependencies: [
        "WorkbenchText", "StatementAnalysis", "ScenarioLanguage", "ScenarioFiles", "StoreTools",
        "Profiling", "RunResults", "RunReports", "OpenCoreData", "SQLiteDriver", "ProfileEvents",
      ]),
    .target(
      name: "WorkbenchServer",
      dependencies: [
        "WorkbenchText", "ScenarioLanguage", "ScenarioFiles", "Profiling", "RunResults",
        "RunReports", "OpenCoreData",
        .product(name: "FlyingSocks", package: "FlyingFox"),
      ]),
    .target(
      name: "WorkbenchCommands",
      dependencies: [
        "WorkbenchText", "StatementAnalysis", "ScenarioLanguage", "ScenarioFiles", "StoreTools",
        "MigrationTools", "Profiling", "LogAnalysis", "RunResults", "RunReports", "WorkbenchShell",
        "WorkbenchServer", "EngineInterface", "OpenCoreData", "SQLiteDriver", "ModelCode",
        "CReadline", "CSandbox",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    .executableTarget(name: "cdprof", dependencies: ["WorkbenchCommands"]),

    .testTarget(name: "SQLiteDriverTests", dependencies: ["SQLiteDriver", "ProfileEvents"]),
    .testTarget(name: "ManagedModelTests", dependencies: ["ManagedModel"]),
    .testTarget(
      name: "ModelCodeTests", dependencies: ["ModelCode", "ManagedModel"], exclude: ["Models"]),
    .testTarget(
      name: "OpenCoreDataTests",
      dependencies: [
        "FailingFiles", "StoreTools", "OpenCoreData", "CoreDataCosts", "SQLiteDriver",
        "ProfileEvents",
      ]),
    // Failing file functions: definitions that precede the C library's in test programs.
    .target(name: "CFailingFiles", dependencies: ["CSQLite"], path: "Tests/CFailingFiles"),
    .target(
      name: "FailingFiles", dependencies: ["CFailingFiles"], path: "Tests/FailingFiles"),
    // The readers of external input, for the tests and for `make fuzz`.
    .target(
      name: "FuzzTargets",
      dependencies: [
        "WorkbenchText", "ScenarioLanguage", "ScenarioFiles", "StoreTools", "LogAnalysis",
        "RunReports", "OpenCoreData", "ManagedModel",
      ], path: "Tests/FuzzTargets"),
    // What the tests of the workbench share: stores, scenarios, logs, recorded events.
    .target(
      name: "WorkbenchFixtures",
      dependencies: [
        "WorkbenchText", "StatementAnalysis", "ScenarioLanguage", "ScenarioFiles", "StoreTools",
        "Profiling", "LogAnalysis", "RunResults", "OpenCoreData", "SQLiteDriver", "ProfileEvents",
      ], path: "Tests/WorkbenchFixtures"),
    .testTarget(
      name: "StatementAnalysisTests",
      dependencies: ["WorkbenchFixtures", "StatementAnalysis", "OpenCoreData", "SQLiteDriver"]),
    .testTarget(
      name: "ScenarioLanguageTests",
      dependencies: [
        "WorkbenchFixtures", "WorkbenchText", "ScenarioLanguage", "ScenarioFiles", "OpenCoreData",
        "ProfileEvents",
      ]),
    .testTarget(
      name: "ScenarioFilesTests",
      dependencies: [
        "WorkbenchFixtures", "WorkbenchText", "ScenarioLanguage", "ScenarioFiles", "OpenCoreData",
        "ProfileEvents",
        .product(name: "Yams", package: "Yams"),
      ]),
    .testTarget(
      name: "StoreToolsTests",
      dependencies: [
        "FailingFiles", "WorkbenchFixtures", "WorkbenchText", "Profiling", "ScenarioLanguage",
        "ScenarioFiles", "StoreTools", "MigrationTools", "RunReports", "OpenCoreData", "ModelCode",
        "SQLiteDriver",
      ]),
    .testTarget(
      name: "ProfilingTests",
      dependencies: [
        "WorkbenchFixtures", "WorkbenchText", "StatementAnalysis", "ScenarioLanguage",
        "ScenarioFiles", "Profiling", "RunResults", "OpenCoreData", "SQLiteDriver", "ProfileEvents",
      ]),
    .testTarget(
      name: "RunResultsTests",
      dependencies: [
        "WorkbenchFixtures", "WorkbenchText", "StatementAnalysis", "ScenarioLanguage",
        "ScenarioFiles", "Profiling", "RunResults", "OpenCoreData", "ProfileEvents",
      ]),
    .testTarget(
      name: "LogAnalysisTests",
      dependencies: [
        "WorkbenchFixtures", "WorkbenchText", "StatementAnalysis", "ScenarioLanguage",
        "ScenarioFiles", "Profiling", "LogAnalysis", "OpenCoreData", "SQLiteDriver",
        "ProfileEvents",
      ]),
    .testTarget(
      name: "RunReportsTests",
      dependencies: [
        "WorkbenchFixtures", "WorkbenchText", "StatementAnalysis", "ScenarioLanguage",
        "ScenarioFiles", "Profiling", "LogAnalysis", "RunResults", "RunReports", "OpenCoreData",
        "ProfileEvents", "CEmbeddedFiles",
      ]),
    .testTarget(
      name: "WorkbenchShellTests",
      dependencies: [
        "WorkbenchFixtures", "WorkbenchText", "StatementAnalysis", "ScenarioLanguage",
        "ScenarioFiles", "StoreTools", "Profiling", "RunResults", "RunReports", "WorkbenchShell",
        "OpenCoreData", "SQLiteDriver", "ProfileEvents",
      ]),
    .testTarget(
      name: "cdprofTests",
      dependencies: [
        "Profiling", "FailingFiles", "FuzzTargets", "cdprof", "WorkbenchShell", "WorkbenchCommands",
        "RunReports", "CSandbox", "WorkbenchText", "OpenCoreData", "ManagedModel", "SQLiteDriver",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    // The code of the articles in the documentation catalogs.
    .testTarget(name: "ArticleTests", dependencies: ["OpenCoreData", "CoreDataCosts"]),
    .testTarget(name: "RepositoryTests", dependencies: ["ProfileEvents"]),
  ],
  swiftLanguageModes: [.v6]
)

// Modules that run before and after what's measured, or only sample it: they parse arguments and lines, start the work, and
// print. Optimizing them would take a twelfth of a release build's processor time, and make nothing measurably faster.
// SwiftPM 6.3 accepts their flags in a dependency, too.
let unoptimized: Set = [
  "MigrationTools", "WorkbenchCommands", "WorkbenchServer", "WorkbenchShell",
]
for target in package.targets where target.type != .system && target.type != .plugin {
  target.swiftSettings = settings
  if unoptimized.contains(target.name) {
    target.swiftSettings?.append(.unsafeFlags(["-Onone"], .when(configuration: .release)))
  }
}

// Only `make fuzz` needs the program, whose modules are compiled with libFuzzer's instrumentation.
if Context.environment["CDPROF_FUZZER"] != nil {
  package.targets += [
    .systemLibrary(name: "CLibFuzzer", path: "Tests/CLibFuzzer"),
    .executableTarget(
      name: "Fuzzer",
      dependencies: ["CLibFuzzer", "FuzzTargets"], path: "Tests/Fuzzer",
      exclude: ["Corpus", "Dictionaries"], swiftSettings: settings),
  ]
}

// Only `make docs` needs the plugin.
if Context.environment["CDPROF_DOCS"] != nil {
  package.dependencies.append(
    .package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0"))
}
