import CSQLite

/// The virtual table module of `_Z_intarrayN`, with the column `value INTEGER`, which reads an
/// `IntArray` without copying it.
///
/// The module has no `xCreate`, which makes the table eponymous: it exists as soon as the module is
/// registered under its name. The module writes to no schema, so it works with immutable and
/// read-only connections and in transactions, and expires no prepared statements. See
/// <https://www.sqlite.org/vtab.html#epoonlyvtab>.
enum IntArrayModule {
  /// The planner's estimate for an array that is empty when a statement is prepared.
  private static let rowsOfAnUnboundArray = 100

  /// Registers a table with a name.
  ///
  /// The module shares the array with the caller.
  static func register(_ name: String, _ array: IntArray, on handle: OpaquePointer) -> Int32 {
    // SQLite also calls the destructor if registering fails.
    sqlite3_create_module_v2(handle, name, module, Retained.pass(array)) { pointer in
      if let pointer { Retained.release(pointer) }
    }
  }

  // Initialized once; SQLite only reads it.
  private nonisolated(unsafe) static let module: UnsafePointer<sqlite3_module> = {
    let module = UnsafeMutablePointer<sqlite3_module>.allocate(capacity: 1)
    var methods = sqlite3_module()
    methods.xConnect = { handle, data, _, _, result, _ in connect(handle, data, result) }
    methods.xBestIndex = { table, info in bestIndex(table, info) }
    methods.xDisconnect = { table in disconnect(table) }
    methods.xOpen = { _, result in open(result) }
    methods.xClose = { cursor in close(cursor) }
    methods.xFilter = { cursor, _, _, _, _ in filter(cursor) }
    methods.xNext = { cursor in
      IntArrayModule.cursor(cursor)?.pointee.index += 1
      return SQLITE_OK
    }
    methods.xEof = { cursor in
      guard let cursor = IntArrayModule.cursor(cursor) else { return 1 }
      return cursor.pointee.index >= cursor.pointee.count ? 1 : 0
    }
    methods.xColumn = { cursor, context, _ in column(cursor, context) }
    methods.xRowid = { cursor, result in
      result?.pointee = IntArrayModule.cursor(cursor)?.pointee.index ?? 0
      return SQLITE_OK
    }
    module.initialize(to: methods)
    return UnsafePointer(module)
  }()
}

extension IntArrayModule {
  private typealias TableResult = UnsafeMutablePointer<UnsafeMutablePointer<sqlite3_vtab>?>
  private typealias CursorResult = UnsafeMutablePointer<UnsafeMutablePointer<sqlite3_vtab_cursor>?>

  private static func connect(
    _ handle: OpaquePointer?, _ array: UnsafeMutableRawPointer?, _ result: TableResult?
  ) -> Int32 {
    let code = sqlite3_declare_vtab(handle, "CREATE TABLE x(value INTEGER)")
    guard code == SQLITE_OK else { return code }
    let table = UnsafeMutablePointer<cdprof_intarray_table>.allocate(capacity: 1)
    table.initialize(to: cdprof_intarray_table(base: sqlite3_vtab(), array: array))
    result?.pointee = UnsafeMutableRawPointer(table).assumingMemoryBound(to: sqlite3_vtab.self)
    return SQLITE_OK
  }

  private static func disconnect(_ table: UnsafeMutablePointer<sqlite3_vtab>?) -> Int32 {
    self.table(table)?.deallocate()
    return SQLITE_OK
  }

  /// Describes the only way to read the table, a full scan.
  ///
  /// The estimate is the current number of values.
  private static func bestIndex(
    _ table: UnsafeMutablePointer<sqlite3_vtab>?, _ info: UnsafeMutablePointer<sqlite3_index_info>?
  ) -> Int32 {
    var count = rowsOfAnUnboundArray
    if let array = self.table(table)?.pointee.array {
      let bound = Retained.borrow(array, as: IntArray.self).current.values.count
      if bound > 0 { count = bound }
    }
    info?.pointee.estimatedCost = Double(count)
    info?.pointee.estimatedRows = Int64(count)
    return SQLITE_OK
  }

  private static func open(_ result: CursorResult?) -> Int32 {
    let cursor = UnsafeMutablePointer<cdprof_intarray_cursor>.allocate(capacity: 1)
    cursor.initialize(to: cdprof_intarray_cursor())
    let base = UnsafeMutableRawPointer(cursor)
    result?.pointee = base.assumingMemoryBound(to: sqlite3_vtab_cursor.self)
    return SQLITE_OK
  }

  private static func close(_ base: UnsafeMutablePointer<sqlite3_vtab_cursor>?) -> Int32 {
    guard let cursor = cursor(base) else { return SQLITE_OK }
    if let values = cursor.pointee.values { Retained.release(values) }
    cursor.deallocate()
    return SQLITE_OK
  }

  /// Starts a scan of the current values.
  private static func filter(_ base: UnsafeMutablePointer<sqlite3_vtab_cursor>?) -> Int32 {
    guard let cursor = cursor(base), let array = table(cursor.pointee.base.pVtab)?.pointee.array
    else { return SQLITE_INTERNAL }
    if let old = cursor.pointee.values { Retained.release(old) }
    let values = Retained.borrow(array, as: IntArray.self).current
    cursor.pointee.values = Retained.pass(values)
    cursor.pointee.count = Int64(values.values.count)
    cursor.pointee.index = 0
    return SQLITE_OK
  }

  private static func column(
    _ base: UnsafeMutablePointer<sqlite3_vtab_cursor>?, _ context: OpaquePointer?
  ) -> Int32 {
    guard let cursor = cursor(base), let values = cursor.pointee.values else {
      return SQLITE_INTERNAL
    }
    let index = Int(cursor.pointee.index)
    let value = Retained.read(values, as: IntArray.Values.self) { $0.values[index] }
    sqlite3_result_int64(context, value)
    return SQLITE_OK
  }

  private static func table(
    _ base: UnsafeMutablePointer<sqlite3_vtab>?
  ) -> UnsafeMutablePointer<cdprof_intarray_table>? {
    UnsafeMutableRawPointer(base)?.assumingMemoryBound(to: cdprof_intarray_table.self)
  }

  @inline(__always)
  private static func cursor(
    _ base: UnsafeMutablePointer<sqlite3_vtab_cursor>?
  ) -> UnsafeMutablePointer<cdprof_intarray_cursor>? {
    UnsafeMutableRawPointer(base)?.assumingMemoryBound(to: cdprof_intarray_cursor.self)
  }
}

/// The values of a table `_Z_intarrayN` of a connection.
///
/// SQLite's module and the connection share it. Binding replaces `current`, so an open cursor keeps
/// reading the values that it started with.
final class IntArray {
  /// An immutable array of values, which cursors reference without copying.
  final class Values {
    let values: ContiguousArray<Int64>

    init(_ values: ContiguousArray<Int64>) {
      self.values = values
    }
  }

  var current = Values([])
}
