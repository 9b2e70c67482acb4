public import Foundation

/// A folder for the files of a test, which is removed with this object.
public final class TemporaryFolder: Sendable {
  /// The URL of the folder.
  public let url: URL

  /// Creates an empty folder.
  ///
  /// - Parameter name: The beginning of the folder's name.
  /// - Throws: An error if the folder can't be created.
  public init(_ name: String) throws {
    url = FileManager.default.temporaryDirectory
      .appendingPathComponent("\(name)-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: url)
  }

  /// Returns the URL of a file in the folder.
  public func file(_ name: String) -> URL { url.appendingPathComponent(name) }
}
