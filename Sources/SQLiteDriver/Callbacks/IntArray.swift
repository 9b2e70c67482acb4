/// The values behind one table `_Z_intarrayN` of one connection.
///
/// SQLite's module and the connection share it. Binding replaces `current` as a whole, so a cursor
/// that is open keeps reading the values it began with.
final class IntArray {
  /// Never changed once made: cursors hold it without copying.
  final class Values {
    let values: ContiguousArray<Int64>

    init(_ values: ContiguousArray<Int64>) {
      self.values = values
    }
  }

  var current = Values([])
}
