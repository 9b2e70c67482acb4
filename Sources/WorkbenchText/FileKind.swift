package import Foundation

/// What a path leads to.
package enum FileKind {
  /// The mode of a file; nil if there's none, or none that can be looked at.
  package static func mode(of path: String, followingLinks: Bool) -> mode_t? {
    var status = stat()
    let result = followingLinks ? stat(path, &status) : lstat(path, &status)
    return result == 0 ? status.st_mode : nil
  }

  /// Whether a mode is that of a regular file.
  package static func isRegular(_ mode: mode_t) -> Bool { mode & S_IFMT == S_IFREG }
  static func isFolder(_ mode: mode_t) -> Bool { mode & S_IFMT == S_IFDIR }
  static func isLink(_ mode: mode_t) -> Bool { mode & S_IFMT == S_IFLNK }

  /// Returns words for what isn't an ordinary file: `a folder`, `a device`.
  package static func words(_ mode: mode_t) -> String {
    switch mode & S_IFMT {
    case S_IFDIR: "a folder"
    case S_IFIFO: "a pipe"
    case S_IFSOCK: "a socket"
    case S_IFCHR, S_IFBLK: "a device"
    default: "no ordinary file"
    }
  }
}
