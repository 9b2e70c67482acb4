#if GRDB
  import GRDB

  /// A row of the moods table as a GRDB record with every column.
  final class GRDBMood: Record {
    var key: Int64
    var entity: Int
    var version: Int
    var rank, stamp: Int64
    var votes, flags: Int32
    var kind: Int16
    var latitude, longitude: Double
    var name, note: String
    var country: Int64?

    override class var databaseTableName: String { "ZMOOD" }

    /// Creates a record to insert.
    init(key: Int64, _ values: MoodValues) {
      self.key = key
      entity = 2
      version = 1
      rank = values.rank
      stamp = values.stamp
      votes = values.votes
      flags = values.flags
      kind = values.kind
      latitude = values.latitude
      longitude = values.longitude
      name = values.name
      note = values.note
      super.init()
    }

    required init(row: Row) throws {
      key = row["Z_PK"]
      entity = row["Z_ENT"]
      version = row["Z_OPT"]
      rank = row["ZRANK"]
      stamp = row["ZSTAMP"]
      votes = row["ZVOTES"]
      flags = row["ZFLAGS"]
      kind = row["ZKIND"]
      latitude = row["ZLATITUDE"]
      longitude = row["ZLONGITUDE"]
      name = row["ZNAME"]
      note = row["ZNOTE"]
      country = row["ZCOUNTRY"]
      try super.init(row: row)
    }

    override func encode(to container: inout PersistenceContainer) throws {
      container["Z_PK"] = key
      container["Z_ENT"] = entity
      container["Z_OPT"] = version
      container["ZRANK"] = rank
      container["ZSTAMP"] = stamp
      container["ZVOTES"] = votes
      container["ZFLAGS"] = flags
      container["ZKIND"] = kind
      container["ZLATITUDE"] = latitude
      container["ZLONGITUDE"] = longitude
      container["ZNAME"] = name
      container["ZNOTE"] = note
      container["ZCOUNTRY"] = country
    }
  }
#endif
