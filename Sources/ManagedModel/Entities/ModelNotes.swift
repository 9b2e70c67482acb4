internal import Foundation

/// Guards what can be set on a model in use: `userInfo` and the localization dictionary.
///
/// One lock serves all models, because these values are rarely read. A setter swaps its value in, so
/// that the old one is released after the lock.
enum ModelNotes {
  static let lock = NSLock()
}
