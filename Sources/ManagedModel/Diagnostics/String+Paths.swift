internal import Foundation

extension String {
  /// The path without its last component.
  ///
  /// Empty for a path of one component, and `/` for the root. On Linux, Foundation's property of
  /// this name stops the process for a path of one character.
  package var deletingLastPathComponent: String {
    let end = lastIndex { $0 != "/" }.map(index(after:)) ?? startIndex
    guard self[..<end].count > 1 else { return hasPrefix("/") ? "/" : "" }
    return NSString(string: self).deletingLastPathComponent
  }
}
