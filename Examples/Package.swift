// swift-tools-version: 6.2

import PackageDescription

let package = Package(
  name: "cdprof-examples",
  dependencies: [
    .package(name: "cdprof", path: "..")
  ],
  targets: [
    // The model is a resource that the program loads, and the input from which the plugin generates
    // the classes.
    .executableTarget(
      name: "Library",
      dependencies: [.product(name: "OpenCoreData", package: "cdprof")],
      resources: [.copy("Library.xcdatamodeld")],
      swiftSettings: [.treatAllWarnings(as: .error)],
      plugins: [.plugin(name: "CoreDataModelPlugin", package: "cdprof")])
  ],
  swiftLanguageModes: [.v6]
)
