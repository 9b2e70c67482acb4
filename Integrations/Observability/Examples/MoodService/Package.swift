// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
]

let openCoreData: Target.Dependency = .product(name: "OpenCoreData", package: "cdprof")
let costs: Target.Dependency = .product(name: "CoreDataCosts", package: "cdprof")
let observability: Target.Dependency = .product(
  name: "OpenCoreDataObservability", package: "Observability")
let hummingbird: Target.Dependency = .product(name: "Hummingbird", package: "hummingbird")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")

let package = Package(
  name: "MoodService",
  products: [.executable(name: "mood-service", targets: ["mood-service"])],
  dependencies: [
    .package(name: "cdprof", path: "../../../.."),
    .package(path: "../.."),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
  ],
  targets: [
    // The service, without what a process has only once: a tracer, metrics, and a port.
    .target(
      name: "MoodService", dependencies: [openCoreData, hummingbird], swiftSettings: settings),
    .executableTarget(
      name: "mood-service",
      dependencies: ["MoodService", observability, openCoreData, costs, hummingbird, logging],
      swiftSettings: settings),
    .testTarget(
      name: "MoodServiceTests",
      dependencies: [
        "MoodService", observability, openCoreData, costs, hummingbird, logging,
        .product(name: "HummingbirdTesting", package: "hummingbird"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
        .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
        .product(name: "MetricsTestKit", package: "swift-metrics"),
        .product(name: "InMemoryLogging", package: "swift-log"),
      ],
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
