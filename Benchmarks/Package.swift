// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
]

let package = Package(
  name: "cdprof-benchmarks",
  dependencies: [
    .package(name: "cdprof", path: ".."),
    .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
  ],
  targets: [
    .target(name: "CFloor", linkerSettings: [.linkedLibrary("sqlite3")]),
    .executableTarget(
      name: "bench",
      dependencies: [
        "CFloor",
        .product(name: "OpenCoreData", package: "cdprof"),
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      path: "Sources/Bench",
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
