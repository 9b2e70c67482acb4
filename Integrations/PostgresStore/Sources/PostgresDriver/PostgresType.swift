/// A type of the server, with the numbers that the protocol uses for it and for its arrays.
package struct PostgresType: Hashable, Sendable {
  /// The type's row in `pg_type`, the same in every database.
  package let oid: UInt32
  /// The array type's row.
  package let arrayOID: UInt32

  package static let boolean = PostgresType(oid: 16, arrayOID: 1000)
  package static let bytes = PostgresType(oid: 17, arrayOID: 1001)
  /// The server calls it `bigint`.
  package static let integer = PostgresType(oid: 20, arrayOID: 1016)
  package static let text = PostgresType(oid: 25, arrayOID: 1009)
  /// The server calls it `double precision`.
  package static let real = PostgresType(oid: 701, arrayOID: 1022)
  package static let numeric = PostgresType(oid: 1700, arrayOID: 1231)
  package static let uuid = PostgresType(oid: 2950, arrayOID: 2951)

  /// The other numeric types, of results only.
  package static let smallint: UInt32 = 21
  package static let int: UInt32 = 23
  package static let float4: UInt32 = 700
}
