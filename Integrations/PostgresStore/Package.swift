// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
]

let openCoreData: Target.Dependency = .product(name: "OpenCoreData", package: "cdprof")
let workbench: Target.Dependency = .product(name: "WorkbenchCommands", package: "cdprof")

let package = Package(
  name: "PostgresStore",
  products: [
    .library(name: "PostgresStore", targets: ["PostgresStore"]),
    .executable(name: "cdprof-postgres", targets: ["cdprof-postgres"]),
  ],
  dependencies: [.package(name: "cdprof", path: "../..")],
  targets: [
    .systemLibrary(
      name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
    // Connections, statements, values, and errors; independent of entities.
    .target(name: "PostgresDriver", dependencies: ["CPostgres"], swiftSettings: settings),
    .target(
      name: "PostgresStore", dependencies: ["PostgresDriver", openCoreData],
      swiftSettings: settings),
    // What cdprof needs to run scenarios on a server.
    .target(
      name: "PostgresEngine",
      dependencies: ["PostgresStore", "PostgresDriver", openCoreData, workbench],
      swiftSettings: settings),
    .executableTarget(
      name: "cdprof-postgres", dependencies: ["PostgresEngine", workbench], swiftSettings: settings),
    // What tests and the comparison with libpq share.
    .target(
      name: "PostgresFixtures", dependencies: ["PostgresStore", "PostgresDriver", openCoreData],
      path: "Tests/PostgresFixtures", swiftSettings: settings),
    .target(name: "CPostgresFloor", dependencies: ["CPostgres"]),
    .executableTarget(
      name: "postgres-bench", dependencies: ["CPostgresFloor", "PostgresFixtures"],
      swiftSettings: settings),
    // Runs in several processes while a test kills the server.
    .executableTarget(
      name: "chaos-client", dependencies: ["PostgresFixtures", openCoreData],
      path: "Tests/ChaosClient", swiftSettings: settings),
    // The framework's tests of behavior, through links to their files. They use what is internal to
    // the framework, so they're compiled without access control.
    .testTarget(
      name: "SharedSuites",
      dependencies: [
        "PostgresStore", "PostgresDriver", openCoreData,
        .product(name: "CoreDataCosts", package: "cdprof"),
      ],
      swiftSettings: settings + [.unsafeFlags(["-Xfrontend", "-disable-access-control"])]),
    .testTarget(
      name: "PostgresStoreTests",
      dependencies: [
        "PostgresStore", "PostgresEngine", "PostgresDriver", "PostgresFixtures", "cdprof-postgres",
        "chaos-client", openCoreData, workbench,
        .product(name: "CoreDataCosts", package: "cdprof"),
      ],
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
