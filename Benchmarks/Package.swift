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
  products: [
    .executable(name: "bench", targets: ["bench"]),
    // `bench gates` preloads this library before the C library. No target links it.
    .library(name: "CAllocations", type: .dynamic, targets: ["CAllocations"]),
  ],
  traits: [
    // `bench gates` needs neither, and compiles faster without them.
    .default(enabledTraits: ["Workbench", "GRDB"]),
    .trait(name: "Workbench", description: "The workbench's rows."),
    .trait(name: "GRDB", description: "The columns of GRDB."),
  ],
  dependencies: [
    .package(name: "cdprof", path: ".."),
    .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
  ],
  targets: [
    .target(name: "CAllocations"),
    .target(name: "CFloor", linkerSettings: [.linkedLibrary("sqlite3")]),
    // The framework's events, the recorder, and the reader of logs are available only in their own
    // package. This target uses them to measure the cost, so it's compiled without access control.
    .target(
      name: "Recording",
      dependencies: [
        .product(name: "OpenCoreData", package: "cdprof"),
        .product(
          name: "LogAnalysis", package: "cdprof", condition: .when(traits: ["Workbench"])),
        .product(name: "RunResults", package: "cdprof", condition: .when(traits: ["Workbench"])),
      ],
      swiftSettings: settings + [
        .unsafeFlags(["-Xfrontend", "-disable-access-control"])
      ]),
    .executableTarget(
      name: "bench",
      dependencies: [
        "CFloor", "Recording",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "OpenCoreData", package: "cdprof"),
        .product(name: "GRDB", package: "GRDB.swift", condition: .when(traits: ["GRDB"])),
      ],
      path: "Sources/Bench",
      exclude: ["Data/Moods.xcdatamodel"],
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
