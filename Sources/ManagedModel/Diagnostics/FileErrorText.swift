package import Foundation

/// Describes errors of the file system.
///
/// Foundation's own descriptions ("The operation could not be completed") name neither the file nor
/// the cause. No other code describes an `errno`.
package enum FileErrorText {
  /// Returns the system's message for an `errno`, such as `no space left on device`.
  package static func words(_ code: Int32) -> String {
    let text = String(cString: strerror(code))
    return text.prefix(1).lowercased() + text.dropFirst()
  }

  /// Returns an error's description or, for a Foundation error without one, the system's message
  /// for its cause, with the file.
  package static func of(_ error: any Error) -> String {
    let error = error as NSError
    if let text = error.userInfo[NSLocalizedDescriptionKey] as? String, !isVague(text) {
      return text
    }
    guard let code = errno(of: error) else {
      let text = error.localizedDescription
      return isVague(text) ? "the system reports \(error.domain) error \(error.code)" : text
    }
    let path =
      error.userInfo[NSFilePathErrorKey] as? String
      ?? (error.userInfo[NSURLErrorKey] as? URL)?.relativePath
    return path.map { "\($0): \(words(code))" } ?? words(code)
  }

  /// Returns the underlying `errno` of an error, or `nil` if it has none.
  package static func errno(of error: NSError) -> Int32? {
    if error.domain == NSPOSIXErrorDomain { return Int32(exactly: error.code) }
    if let cause = error.userInfo[NSUnderlyingErrorKey] as? any Error {
      let cause = cause as NSError
      if cause !== error, let code = errno(of: cause) { return code }
    }
    guard error.domain == NSCocoaErrorDomain else { return nil }
    return causes[error.code]
  }

  /// The `errno` for each error code that Foundation throws without an underlying error.
  private static let causes: [Int: Int32] = [
    CocoaError.Code.fileNoSuchFile.rawValue: ENOENT,
    CocoaError.Code.fileReadNoSuchFile.rawValue: ENOENT,
    CocoaError.Code.fileReadNoPermission.rawValue: EACCES,
    CocoaError.Code.fileWriteNoPermission.rawValue: EACCES,
    CocoaError.Code.fileWriteFileExists.rawValue: EEXIST,
    CocoaError.Code.fileWriteOutOfSpace.rawValue: ENOSPC,
    CocoaError.Code.fileWriteVolumeReadOnly.rawValue: EROFS,
    CocoaError.Code.fileReadTooLarge.rawValue: EFBIG,
    CocoaError.Code.fileReadInvalidFileName.rawValue: EINVAL,
    CocoaError.Code.fileWriteInvalidFileName.rawValue: EINVAL,
  ]

  private static func isVague(_ text: String) -> Bool {
    text.hasPrefix("The operation could not be completed")
      || text.hasPrefix("The operation couldn")
  }
}
