// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
]

let package = Package(
  name: "Moody",
  products: [
    .library(name: "Moody", targets: ["Moody"]),
    .library(name: "MoodySync", targets: ["MoodySync"]),
    .library(name: "MoodyTestSupport", targets: ["MoodyTestSupport"]),
  ],
  dependencies: [.package(name: "cdprof", path: "../..")],
  targets: [
    .target(
      name: "Moody", dependencies: [.product(name: "OpenCoreData", package: "cdprof")],
      swiftSettings: settings),
    .target(
      name: "MoodySync",
      dependencies: ["Moody", .product(name: "OpenCoreData", package: "cdprof")],
      swiftSettings: settings),
    // What the tests of the app and of its server share.
    .target(name: "MoodyTestSupport", swiftSettings: settings),
    // Measures how long a download keeps the main queue busy.
    .executableTarget(
      name: "download-frames",
      dependencies: ["Moody", "MoodySync", .product(name: "OpenCoreData", package: "cdprof")],
      swiftSettings: settings),
    .testTarget(
      name: "MoodyTests",
      dependencies: [
        "Moody", .product(name: "OpenCoreData", package: "cdprof"),
        .product(name: "CoreDataCosts", package: "cdprof"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "MoodySyncTests",
      dependencies: [
        "Moody", "MoodySync", "MoodyTestSupport", .product(name: "OpenCoreData", package: "cdprof"),
        .product(name: "CoreDataCosts", package: "cdprof"),
      ],
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
