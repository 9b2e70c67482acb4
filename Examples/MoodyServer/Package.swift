// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
]

let openCoreData: Target.Dependency = .product(name: "OpenCoreData", package: "cdprof")
let moody: Target.Dependency = .product(name: "Moody", package: "Moody")
let moodySync: Target.Dependency = .product(name: "MoodySync", package: "Moody")
let flyingFox: Target.Dependency = .product(name: "FlyingFox", package: "FlyingFox")
let flyingSocks: Target.Dependency = .product(name: "FlyingSocks", package: "FlyingFox")
let arguments: Target.Dependency = .product(
  name: "ArgumentParser", package: "swift-argument-parser")

let package = Package(
  name: "MoodyServer",
  products: [
    .executable(name: "moody-server", targets: ["moody-server"]),
    .executable(name: "moody", targets: ["moody"]),
    // A library that tests preload into the programs.
    .library(name: "SkewedClock", type: .dynamic, targets: ["SkewedClock"]),
  ],
  dependencies: [
    .package(name: "cdprof", path: "../.."),
    .package(name: "Moody", path: "../Moody"),
    .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
  ],
  targets: [
    // What client and server send each other, and the client's side.
    .target(name: "MoodyHTTP", dependencies: [moodySync, openCoreData], swiftSettings: settings),
    // The server's side, without a command line.
    .target(
      name: "MoodyServer",
      dependencies: ["MoodyHTTP", moodySync, openCoreData, flyingFox, flyingSocks],
      swiftSettings: settings),
    .executableTarget(
      name: "moody-server", dependencies: ["MoodyServer", openCoreData, arguments],
      swiftSettings: settings),
    .executableTarget(
      name: "moody", dependencies: ["MoodyHTTP", moody, moodySync, openCoreData, arguments],
      swiftSettings: settings),
    .target(name: "SkewedClock", path: "Tests/SkewedClock"),
    .testTarget(
      name: "MoodyServerTests",
      dependencies: [
        "MoodyServer", "MoodyHTTP", "moody-server", "moody", moody, moodySync, openCoreData,
        .product(name: "MoodyTestSupport", package: "Moody"),
      ],
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
