// swift-tools-version: 6.2

import PackageDescription

let package = Package(
  name: "cdprof-examples",
  dependencies: [
    .package(name: "cdprof", path: "..")
  ],
  targets: [
    // The model is a resource, which the program reads, and what the plugin writes the classes from.
    .executableTarget(
      name: "Library",
      dependencies: [.product(name: "OpenCoreData", package: "cdprof")],
      resources: [.copy("Library.xcdatamodeld")],
      swiftSettings: [.treatAllWarnings(as: .error)],
      plugins: [.plugin(name: "CoreDataModelPlugin", package: "cdprof")])
  ],
  swiftLanguageModes: [.v6]
)
