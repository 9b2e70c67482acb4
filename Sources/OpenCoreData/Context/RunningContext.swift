import Glibc
import ManagedModel

/// The context whose block the calling thread runs, the innermost of them.
enum RunningContext {
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    precondition(pthread_key_create(&key, nil) == 0, "the process has no thread keys left")
    return key
  }()

  /// Nil outside of all blocks.
  static var current: NSManagedObjectContext? {
    pthread_getspecific(key).map {
      Unmanaged<NSManagedObjectContext>.fromOpaque($0).takeUnretainedValue()
    }
  }

  /// Begins a block of a context, which its caller holds.
  ///
  /// - Returns: What `leave` is to be given when the block has ended.
  static func enter(_ context: NSManagedObjectContext) -> UnsafeMutableRawPointer? {
    let outer = pthread_getspecific(key)
    pthread_setspecific(key, Unmanaged.passUnretained(context).toOpaque())
    return outer
  }

  /// Ends a block.
  static func leave(to outer: UnsafeMutableRawPointer?) {
    pthread_setspecific(key, outer)
  }
}
