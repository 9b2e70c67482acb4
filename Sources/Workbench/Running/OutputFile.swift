import Foundation
import OpenCoreData

/// Writes what a run leaves behind; an error names the file it is about.
enum OutputFile {
  /// Makes the folder when it does not exist.
  ///
  /// - Throws: the file system's `NSError`.
  static func makeFolder(_ url: URL) throws {
    try naming(url, "made") {
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }
  }

  /// Writes a file, in place of one that was there.
  ///
  /// - Throws: the file system's `NSError`; a folder of that name stays.
  static func write(_ data: Data, to url: URL) throws {
    try naming(url, "written") {
      try refuseFolder(at: url)
      try data.write(to: url, options: .atomic)
    }
  }

  /// Leaves a copy of a store, in place of one that was there.
  ///
  /// Readers see the old store or the new one, and of two runs the later wins.
  /// - Throws: the file system's `NSError`; a folder of that name stays.
  static func copyStore(_ store: URL, to url: URL) throws {
    try naming(url, "written") {
      try refuseFolder(at: url)
      let files = FileManager.default
      let folder = url.deletingLastPathComponent()
        .appendingPathComponent(".cdprof-\(UUID().uuidString)", isDirectory: true)
      try files.createDirectory(at: folder, withIntermediateDirectories: false)
      // A folder that cannot be removed is in nobody's way.
      defer { try? files.removeItem(at: folder) }
      try StoreFile.copy(from: store, to: folder.appendingPathComponent(url.lastPathComponent))
      try StoreFile.move(from: folder.appendingPathComponent(url.lastPathComponent), to: url)
    }
  }

  private static func refuseFolder(at url: URL) throws {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder),
      isFolder.boolValue
    else { return }
    throw NSError(
      domain: NSCocoaErrorDomain, code: CocoaError.Code.fileWriteFileExists.rawValue,
      userInfo: [NSLocalizedDescriptionKey: "There is a folder of that name."])
  }

  /// Does something with a file; an error names it.
  static func naming<Result>(
    _ url: URL, _ deed: String, _ body: () throws -> Result
  ) throws -> Result {
    do {
      return try body()
    } catch {
      let error = error as NSError
      // What is missing on the way to a file that is to be written is no missing input.
      let isMissing =
        error.domain == NSCocoaErrorDomain
        && [CocoaError.Code.fileNoSuchFile, .fileReadNoSuchFile, .fileReadNoPermission]
          .contains { $0.rawValue == error.code }
      throw NSError(
        domain: error.domain,
        code: isMissing ? CocoaError.Code.fileWriteUnknown.rawValue : error.code,
        userInfo: [
          NSLocalizedDescriptionKey:
            "\(url.relativePath) cannot be \(deed): \(error.localizedDescription)",
          NSFilePathErrorKey: url.path, NSUnderlyingErrorKey: error,
        ])
    }
  }
}
