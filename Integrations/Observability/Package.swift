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
let tracing: Target.Dependency = .product(name: "Tracing", package: "swift-distributed-tracing")
let metrics: Target.Dependency = .product(name: "CoreMetrics", package: "swift-metrics")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")

let package = Package(
  name: "OpenCoreDataObservability",
  products: [
    .library(name: "OpenCoreDataObservability", targets: ["OpenCoreDataObservability"])
  ],
  dependencies: [
    .package(name: "cdprof", path: "../.."),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
  ],
  targets: [
    .target(
      name: "OpenCoreDataObservability",
      dependencies: [openCoreData, costs, tracing, metrics, logging], swiftSettings: settings),
    .testTarget(
      name: "OpenCoreDataObservabilityTests",
      dependencies: [
        "OpenCoreDataObservability", openCoreData, costs, tracing, metrics, logging,
        .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
        .product(name: "MetricsTestKit", package: "swift-metrics"),
        .product(name: "InMemoryLogging", package: "swift-log"),
      ],
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
