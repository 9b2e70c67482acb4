internal import CPostgres
package import Foundation

/// The rows that a statement returned, in the binary format.
///
/// Rows and columns are counted from 0. Valid after the connection was closed. Cost: all rows are
/// in memory.
package final class PostgresResult {
  private let raw: OpaquePointer
  /// The number of rows.
  package let rowCount: Int
  /// The number of columns.
  package let columnCount: Int
  private let types: [UInt32]

  init(_ raw: OpaquePointer) {
    self.raw = raw
    rowCount = Int(PQntuples(raw))
    columnCount = Int(PQnfields(raw))
    types = (0..<PQnfields(raw)).map { PQftype(raw, $0) }
  }

  deinit {
    PQclear(raw)
  }

  /// The number of rows that an INSERT, UPDATE, or DELETE has changed, or that a SELECT has returned;
  /// 0 for other statements.
  package var changedRows: Int {
    Int(String(cString: PQcmdTuples(raw))) ?? 0
  }

  /// Returns whether a value is NULL.
  package func isNull(_ row: Int, _ column: Int) -> Bool {
    guard row < rowCount && column < columnCount else { fatalError("the result has no such value") }
    return PQgetisnull(raw, Int32(row), Int32(column)) == 1
  }

  /// Returns the bytes of a value, which are valid while the result is; nil for NULL.
  package func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer? {
    guard row < rowCount && column < columnCount else { fatalError("the result has no such value") }
    let (row, column) = (Int32(truncatingIfNeeded: row), Int32(truncatingIfNeeded: column))
    // NULL has no length, so that most values need no other test.
    let length = PQgetlength(raw, row, column)
    if length == 0, PQgetisnull(raw, row, column) == 1 { return nil }
    return UnsafeRawBufferPointer(start: PQgetvalue(raw, row, column), count: Int(length))
  }

  /// Returns the type of a column.
  package func type(_ column: Int) -> UInt32 { types[column] }

  private func read<R>(
    _ row: Int, _ column: Int, _ body: (UnsafeRawBufferPointer, UInt32) -> R?
  ) -> R? {
    guard let bytes = bytes(row, column) else { return nil }
    return body(bytes, types[column])
  }

  /// Returns an integer of any width, or a Boolean as 0 or 1; nil for NULL and for other types.
  package func integer(_ row: Int, _ column: Int) -> Int64? {
    read(row, column) { bytes, type in
      switch type {
      case PostgresType.boolean.oid: bytes.first.map { $0 == 0 ? 0 : 1 }
      case PostgresType.smallint: Int16(network: bytes).map { Int64($0) }
      case PostgresType.int: Int32(network: bytes).map { Int64($0) }
      case PostgresType.integer.oid: Int64(network: bytes)
      default: nil
      }
    }
  }

  /// Returns a Boolean; nil for NULL and for other types.
  package func boolean(_ row: Int, _ column: Int) -> Bool? {
    read(row, column) { bytes, type in
      type == PostgresType.boolean.oid ? bytes.first.map { $0 != 0 } : nil
    }
  }

  /// Returns a number as a double; nil for NULL and for other types.
  package func real(_ row: Int, _ column: Int) -> Double? {
    read(row, column) { bytes, type in
      switch type {
      case PostgresType.real.oid: UInt64(network: bytes).map { Double(bitPattern: $0) }
      case PostgresType.float4: UInt32(network: bytes).map { Double(Float(bitPattern: $0)) }
      case PostgresType.numeric.oid: NumericDigits(network: bytes)?.nearestDouble
      default: integer(row, column).map { Double($0) }
      }
    }
  }

  /// Returns a `numeric` or an integer; nil for NULL, for other types, and for a number that a
  /// `Decimal` can't represent.
  package func decimal(_ row: Int, _ column: Int) -> Decimal? {
    read(row, column) { bytes, type in
      type == PostgresType.numeric.oid
        ? NumericDigits(network: bytes)?.decimal : integer(row, column).map { Decimal($0) }
    }
  }

  /// Returns a string; nil for NULL.
  package func text(_ row: Int, _ column: Int) -> String? {
    read(row, column) { bytes, _ in String(decoding: bytes, as: UTF8.self) }
  }

  /// Returns the bytes of a value; nil for NULL.
  package func data(_ row: Int, _ column: Int) -> Data? {
    read(row, column) { bytes, _ in Data(bytes) }
  }

  /// Returns a UUID; nil for NULL and for other types.
  package func uuid(_ row: Int, _ column: Int) -> UUID? {
    read(row, column) { bytes, type in
      guard type == PostgresType.uuid.oid, bytes.count == 16 else { return nil }
      return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
    }
  }

  /// Returns a column's integers, without NULLs.
  package func integers(_ column: Int) -> [Int64] {
    (0..<rowCount).compactMap { integer($0, column) }
  }

  /// Returns whether a column is a `numeric`.
  package func isNumeric(_ column: Int) -> Bool { types[column] == PostgresType.numeric.oid }

  /// Returns whether a column is an integer of any width.
  package func isInteger(_ column: Int) -> Bool {
    [PostgresType.smallint, PostgresType.int, PostgresType.integer.oid].contains(types[column])
  }
}
