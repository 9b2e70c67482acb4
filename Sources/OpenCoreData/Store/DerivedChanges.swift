import ManagedModel
import SQLiteDriver
import Synchronization

/// The derived values that triggers wrote in the open transaction.
///
/// Used only on the writing thread, which the triggers run on.
final class DerivedChanges: Sendable {
  private let changes = Mutex<[DerivedValueChange]>([])

  func note(_ change: DerivedValueChange) {
    changes.withLock { $0.append(change) }
  }

  /// Returns the values written since the last call.
  func take() -> [DerivedValueChange] {
    changes.withLock { changes in
      defer { changes.removeAll() }
      return changes
    }
  }
}

extension CachingStore {
  /// Updates the rows of the row cache with derived values.
  ///
  /// Rows retained by objects don't change: an object shows the new value after it's refreshed.
  final func remember(_ changes: [DerivedValueChange], commit: UInt64) {
    guard !changes.isEmpty else { return }
    let timestamp = Date.timeIntervalSinceReferenceDate
    withShared { shared in
      for change in changes {
        guard let layout = layouts.layout(entityNumber: change.entityNumber),
          case .slot(let index)? = layout.position(of: change.property)
        else { continue }
        let slot = layout.slots[index]
        let row = shared.rows.peek(rootIndex: layout.rootIndex, key: change.primaryKey) { row in
          row.layoutIndex == layout.index
            ? row.replacing([(slot, RowValue(change.value, kind: slot.kind))], in: layout) : nil
        }
        guard let row else { continue }
        shared.rows.install(
          row, rootIndex: layout.rootIndex, key: change.primaryKey, commit: commit,
          timestamp: timestamp
        ).release()
      }
    }
  }
}

extension RowValue {
  /// Creates the value of a column as a row has it, which SQLite computed for a slot's kind; null
  /// if it doesn't fit.
  fileprivate init(_ value: SQLiteValue, kind: RowSlot.Kind) {
    switch (value, kind) {
    case (.null, _): self = .null
    // A column of dates contains whole seconds as integers.
    case (.integer(let number), .date): self = .double(Double(number))
    case (.real(let number), .date): self = .double(number)
    case (.integer(let number), _): self = RowValue(number, kind: kind) ?? .null
    case (.real(let number), _): self = RowValue(number, kind: kind) ?? .null
    case (.text(let text), .string), (.text(let text), .uri), (.text(let text), .decimal):
      self = .text(text)
    case (.blob(let bytes), .data), (.blob(let bytes), .uuid), (.blob(let bytes), .transformable),
      (.blob(let bytes), .external):
      self = .bytes(Data(bytes))
    case (.text, _), (.blob, _): self = .null
    }
  }
}
