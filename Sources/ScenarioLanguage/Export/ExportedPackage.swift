package import Foundation
import ModelCode
import WorkbenchText

/// The package of an exported program.
package struct ExportedPackage {
  /// The name of the package and of its program.
  package let name: String
  /// The path of what was exported.
  let source: String
  /// The contents of `main.swift`.
  let program: String

  /// The files: the manifest and the source file, by path.
  package var files: [(path: String, text: String)] {
    [("Package.swift", manifest), ("Sources/\(name)/main.swift", program)]
  }

  /// Writes the package to a folder.
  ///
  /// - Parameters:
  ///   - folder: The folder to write to.
  ///   - force: Whether files that `cdprof` didn't write may be replaced.
  /// - Returns: The paths of the written files.
  /// - Throws: `InvalidInputError` if such a file exists, before anything is written; otherwise,
  ///   the file system's `NSError`.
  package func write(to folder: URL, force: Bool = false) throws -> [String] {
    let files = files.map { (folder.appendingPathComponent($0.path), $0.text) }
    for (url, _) in files { try OutputFile.check(url, force: force) }
    for (url, text) in files {
      try OutputFile.makeFolder(url.deletingLastPathComponent())
      try OutputFile.write(Data(text.utf8), to: url, force: force)
    }
    return files.map(\.0.relativePath)
  }

  private var manifest: String {
    """
    // swift-tools-version: 6.0
    \(OutputMark.program) from \(SwiftLines.oneLine(source)).

    import PackageDescription

    // On a Mac, this uses Core Data; elsewhere, OpenCoreData from the folder in CDPROF_PACKAGE.
    #if canImport(Darwin)
      let packages: [Package.Dependency] = []
      let products: [Target.Dependency] = []
    #else
      let packages: [Package.Dependency] = [
        .package(name: "cdprof", path: Context.environment["CDPROF_PACKAGE"] ?? "../cdprof")
      ]
      let products: [Target.Dependency] = [.product(name: "OpenCoreData", package: "cdprof")]
    #endif

    let package = Package(
      name: \(SwiftNames.literal(name)),
      platforms: [.macOS(.v12)],
      dependencies: packages,
      targets: [
        .executableTarget(name: \(SwiftNames.literal(name)), dependencies: products)
      ]
    )

    """
  }
}
