// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
]

let openCoreData: Target.Dependency = .product(name: "OpenCoreData", package: "cdprof")

let package = Package(
  name: "PostgresStore",
  products: [.library(name: "PostgresStore", targets: ["PostgresStore"])],
  dependencies: [.package(name: "cdprof", path: "../..")],
  targets: [
    .systemLibrary(
      name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
    // Connections, statements, values, and errors; independent of entities.
    .target(name: "PostgresDriver", dependencies: ["CPostgres"], swiftSettings: settings),
    .target(
      name: "PostgresStore", dependencies: ["PostgresDriver", openCoreData],
      swiftSettings: settings),
    .testTarget(
      name: "PostgresStoreTests", dependencies: ["PostgresStore", "PostgresDriver", openCoreData],
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
