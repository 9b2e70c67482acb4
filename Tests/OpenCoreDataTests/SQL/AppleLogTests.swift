import ManagedModel
import SQLiteDriver
import Testing

@testable import OpenCoreData

/// The exact SQL of Core Data, where public logs show it.
@Suite struct AppleLogTests {
  /// A translator and an entity.
  private func translator(
    _ model: NSManagedObjectModel, _ name: String
  ) throws -> (SQLTranslator, SQLEntity) {
    let model = SQLModel(model: model)
    return (SQLTranslator(model: model), try #require(model.entity(named: name)))
  }

  @Test func fetchesHaveTheSQLOfPublicLogs() throws {
    var (sql, entity) = try translator(LogModels.attachments(["timestamp"]), "Item")
    #expect(try sql.fetch(entity: entity, result: .count).sql == "SELECT COUNT(*) FROM ZITEM")
    #expect(
      try sql.fetch(entity: entity).sql
        == "SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZTIMESTAMP FROM ZITEM t0")
    #expect(
      try sql.fetch(entity: entity, predicate: NSPredicate(format: "timestamp > %@", Date())).sql
        == "SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZTIMESTAMP FROM ZITEM t0 WHERE  t0.ZTIMESTAMP > ?")
    #expect(
      try sql.fetch(
        entity: entity, predicate: NSPredicate(format: "attachments.@count > 2")
      ).sql
        == "SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZTIMESTAMP FROM ZITEM t0 WHERE "
        + "(SELECT COUNT(t1.Z_PK) FROM ZATTACHMENT t1 WHERE (t0.Z_PK = t1.ZITEM) ) > ?")
    (sql, entity) = try translator(
      LogModels.attachments(["timestamp", "attachmentCount", "birthOfYear"]), "Item")
    #expect(
      try sql.fetch(
        entity: entity, sort: [NSSortDescriptor(key: "attachmentCount", ascending: true)]
      ).sql
        == "SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZATTACHMENTCOUNT, t0.ZBIRTHOFYEAR, t0.ZTIMESTAMP "
        + "FROM ZITEM t0 ORDER BY t0.ZATTACHMENTCOUNT")
    (sql, entity) = try translator(LogModels.words(), "Word")
    #expect(
      try sql.fetch(
        entity: entity, predicate: NSPredicate(format: "wordCategory.firstLetter == 's'"),
        result: .count
      ).sql
        == "SELECT COUNT(DISTINCT t0.Z_PK) FROM ZWORD t0 JOIN ZWORDCATEGORY t1 "
        + "ON t0.ZWORDCATEGORY = t1.Z_PK WHERE  t1.ZFIRSTLETTER = ?")
    (sql, entity) = try translator(LogModels.stops(), "Stop")
    #expect(
      try sql.fetch(
        entity: entity,
        predicate: NSPredicate(
          format: "%f <= longitude AND longitude <= %f AND %f <= latitude AND latitude <= %f",
          1.0, 2.0, 3.0, 4.0), limit: 100
      ).sql
        == "SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZIDENTIFIER, t0.ZLATITUDE, t0.ZLONGITUDE, t0.ZNAME "
        + "FROM ZSTOP t0 WHERE (? <=  t0.ZLONGITUDE AND  t0.ZLONGITUDE <= ? AND "
        + "? <=  t0.ZLATITUDE AND  t0.ZLATITUDE <= ?)  LIMIT 100")
    (sql, entity) = try translator(LogModels.books(), "Book")
    #expect(
      try sql.fetch(
        entity: entity, predicate: NSPredicate(format: "title CONTAINS[cd] %@", "Maui"),
        sort: [NSSortDescriptor(key: "objectID", ascending: true)]
      ).sql
        == "SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZAUTHOR, t0.ZCOVER, t0.ZPUBLISHEDYEAR, t0.ZTITLE "
        + "FROM ZBOOK t0 WHERE  NSCoreDataStringSearch( t0.ZTITLE, ?, 417, 1) ORDER BY t0.Z_PK")
    #expect(
      try sql.fetch(
        entity: entity, predicate: nil,
        sort: [
          NSSortDescriptor(key: "title", ascending: true, selector: .localizedCompare),
          NSSortDescriptor(key: "objectID", ascending: true),
        ]
      ).sql.hasSuffix("ORDER BY t0.ZTITLE COLLATE NSCollateLocaleSensitive , t0.Z_PK"))
  }

  @Test func dictionaryFetchesHaveTheSQLOfPublicLogs() throws {
    let (sql, item) = try translator(
      LogModels.attachments(["timestamp", "attachmentCount", "birthOfYear"]), "Item")
    func text(
      _ properties: [Any], groups: [Any] = [], having: NSPredicate? = nil
    ) throws -> String {
      let request = NSFetchRequest<NSDictionary>()
      request.propertiesToFetch = properties
      request.propertiesToGroupBy = groups
      request.havingPredicate = having
      return try sql.dictionaries(
        DictionaryPlan(request, entity: item.description), entity: item, predicate: nil, sort: [],
        limit: 0, offset: 0, includesSubentities: true
      ).query.sql
    }
    let count = NSExpressionDescription()
    count.name = "count"
    count.expression = NSExpression(
      forFunction: "count:", arguments: [NSExpression(forKeyPath: "birthOfYear")])
    #expect(
      try text(["birthOfYear", count], groups: ["birthOfYear"])
        == "SELECT t0.ZBIRTHOFYEAR, COUNT( t0.ZBIRTHOFYEAR) FROM ZITEM t0 "
        + "GROUP BY  t0.ZBIRTHOFYEAR")
    #expect(
      try text(
        ["birthOfYear", count], groups: ["birthOfYear"],
        having: NSPredicate(format: "%@ > 16", NSExpression(forVariable: "count")))
        == "SELECT t0.ZBIRTHOFYEAR, COUNT( t0.ZBIRTHOFYEAR) AS __var0 FROM ZITEM t0 "
        + "GROUP BY  t0.ZBIRTHOFYEAR HAVING __var0 > ?")
    let sum = NSExpressionDescription()
    sum.expression = NSExpression(
      forFunction: "sum:", arguments: [NSExpression(forKeyPath: "attachmentCount")])
    #expect(try text([sum]) == "SELECT total( t0.ZATTACHMENTCOUNT) FROM ZITEM t0")
    let all = NSExpressionDescription()
    all.expression = NSExpression(
      forFunction: "count:", arguments: [NSExpression(forKeyPath: "attachments")])
    #expect(
      try text([all])
        == "SELECT COUNT( t1.Z_PK) FROM ZITEM t0 LEFT OUTER JOIN ZATTACHMENT t1 "
        + "ON t0.Z_PK = t1.ZITEM")
  }

  @Test func prefetchesBatchesAndFaultsHaveTheSQLOfPublicLogs() throws {
    var (sql, entity) = try translator(LogModels.attachments(["timestamp"]), "Item")
    let attachments = try #require(entity.toMany["attachments"])
    let prefetch = try #require(sql.prefetchToMany(attachments))
    #expect(
      prefetch.sql
        == "SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZTITLE, t0.ZITEM FROM ZATTACHMENT t0 "
        + "WHERE  t0.ZITEM IN (SELECT * FROM _Z_intarray0)  ORDER BY t0.ZITEM")
    #expect(prefetch.projection.sourceKeyColumn == 4)
    (sql, entity) = try translator(LogModels.tags(), "Item")
    #expect(
      sql.toMany(try #require(entity.toMany["tags"])).sql
        == "SELECT 0, t0.Z_PK FROM Z_1TAGS t1 JOIN ZTAG t0 ON t0.Z_PK = t1.Z_2TAGS "
        + "WHERE t1.Z_1ITEMS = ?")
    (sql, entity) = try translator(LogModels.moody(), "Country")
    #expect(
      sql.fault(entity: entity).sql
        == "SELECT t0.Z_ENT, t0.Z_PK, t0.Z_OPT, t0.ZMARKEDFORDELETIONDATE, t0.ZNUMBEROFMOODS, "
        + "t0.ZNUMERICISO3166CODE, t0.ZUNIQUENESSDUMMY, t0.ZUPDATEDAT, t0.ZNUMBEROFCOUNTRIES, "
        + "t0.ZCONTINENT FROM ZGEOGRAPHICREGION t0 WHERE  t0.Z_PK = ?")
    #expect(
      sql.page(entity: try #require(sql.model.entity(named: "Mood")), limit: 10).sql.hasSuffix(
        "FROM ZMOOD t0 WHERE  t0.Z_PK IN (SELECT * FROM _Z_intarray0)   LIMIT 10"))
    #expect(
      try sql.fetch(
        entity: entity.root, predicate: NSPredicate(format: "markedForDeletionDate = %@", Date()),
        sort: [NSSortDescriptor(key: "updatedAt", ascending: false)], result: .identifiers
      ).sql
        == "SELECT t0.Z_ENT, t0.Z_PK FROM ZGEOGRAPHICREGION t0 "
        + "WHERE  t0.ZMARKEDFORDELETIONDATE = ? ORDER BY t0.ZUPDATEDAT DESC")
  }

  @Test func insertsAndUpdatesHaveTheSQLOfPublicLogs() throws {
    let (sql, mood) = try translator(LogModels.moody(), "Mood")
    #expect(
      sql.insert(entity: mood).sql
        == "INSERT INTO ZMOOD(Z_PK, Z_ENT, Z_OPT, ZCOUNTRY, ZCOLORS, ZDATE, ZLATITUDE, "
        + "ZLONGITUDE, ZMARKEDFORDELETIONDATE, ZMARKEDFORREMOTEDELETION, ZREMOTEIDENTIFIER) "
        + "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
    let country = try #require(sql.model.entity(named: "Country"))
    let slot = try #require(country.slots["updatedAt"])
    let update = sql.update(entity: country, slots: [slot])
    #expect(
      update.sql
        == "UPDATE ZGEOGRAPHICREGION SET ZUPDATEDAT = ?, Z_OPT = ? WHERE Z_PK=? AND Z_OPT=?")
    #expect(update.parameters == [.slot(slot), .version, .primaryKey, .lockedVersion])
    #expect(
      SQLTranslator.reserveKeys
        == "UPDATE OR FAIL Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ? AND Z_MAX = ?")
  }
}
