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
    .testTarget(
      name: "PostgresStoreTests",
      dependencies: [
        "PostgresStore", "PostgresEngine", "PostgresDriver", "cdprof-postgres", openCoreData,
        .product(name: "CoreDataCosts", package: "cdprof"),
      ],
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
