/// The columns of all indexes of a database, which several modules read.
package enum IndexColumns {
  /// The FROM and WHERE clauses of a query for them.
  ///
  /// Each row has the index as `m` of `sqlite_master` and `l` of `pragma_index_list`, and a column
  /// of it as `i` of `pragma_index_xinfo`. A caller can add conditions with AND.
  ///
  /// **Cost:** linear: the list of each table is read once.
  package static let source = """
    FROM (SELECT DISTINCT tbl_name FROM sqlite_master WHERE type = 'index') t \
    CROSS JOIN pragma_index_list(t.tbl_name) l CROSS JOIN sqlite_master m \
    CROSS JOIN pragma_index_xinfo(m.name) i \
    WHERE m.type = 'index' AND m.name = l.name AND m.tbl_name = t.tbl_name AND i."key" = 1
    """
}
