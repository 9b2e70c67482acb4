import ManagedModel
import SQLiteDriver
import Synchronization

/// The SQL of earlier fetches by their shape, so that a fetch that differs from one of them in its
/// constants alone is not translated again.
///
/// Shared by the contexts of a store.
final class TranslationCache: Sendable {
  /// A translated fetch: the text, and where its values come from.
  struct Entry: Sendable {
    let sql: String
    let binds: [SQLBind]
    let intArrays: [IntArraySource]
    let projection: Projection
    /// What the columns of dictionaries become.
    var columns: [DictionaryQuery.Column] = []

    /// The query for the constants of a predicate, nil when one does not fit.
    func query(_ constants: [PredicateValue], for translator: SQLTranslator) -> SelectQuery? {
      var values: [SQLiteValue] = []
      values.reserveCapacity(binds.count)
      for bind in binds {
        guard let value = bind.value(of: constants, for: translator) else { return nil }
        values.append(value)
      }
      var arrays: [ContiguousArray<Int64>] = []
      for source in intArrays {
        guard let array = source.values(of: constants, for: translator) else { return nil }
        arrays.append(array)
      }
      return SelectQuery(sql: sql, binds: values, intArrays: arrays, projection: projection)
    }
  }

  private struct State {
    var entries: [[UInt8]: Entry] = [:]
    var translations = 0
  }

  private let state = Mutex(State())

  /// Shapes beyond this many empty the cache: a program has far fewer.
  private static let capacity = 512

  /// How many fetches were translated so far.
  var translations: Int { state.withLock { $0.translations } }

  /// The fetch of a shape that was translated before.
  func entry(_ shape: PredicateShape) -> Entry? {
    state.withLock { $0.entries[shape.bytes] }
  }

  /// Notes a translation, and keeps it under its shape if it has one.
  func add(_ entry: Entry, shape: PredicateShape?) {
    state.withLock { state in
      state.translations += 1
      guard let shape else { return }
      if state.entries.count >= Self.capacity { state.entries.removeAll() }
      state.entries[shape.bytes] = entry
    }
  }
}
