import OpenCoreData
import SQLiteDriver
import WorkbenchText

/// Finds attributes whose large values lie inside the rows.
///
/// A row with a large value fills pages of its own, and every fetch of the entity reads them. With
/// external storage a value of more than 100 kB or so is kept in a file beside the store.
struct LargeInlineBinaryRule: ModelRule {
  static let name = "large-inline-binary"

  /// The size from which external storage would keep a value in a file.
  private static let limit: Int64 = 100_000

  func findings(in checked: CheckedModel) throws -> [ModelFinding] {
    let rootsByFamily = checked.hierarchies.flatMap { root, family in family.map { ($0, root) } }
    return try rootsByFamily.flatMap { entity, root -> [ModelFinding] in
      try entity.ownAttributes.compactMap { attribute in
        guard !attribute.isTransient, !attribute.allowsExternalBinaryDataStorage else { return nil }
        let isBinary = attribute.attributeType == .binaryDataAttributeType
        guard isBinary || attribute.attributeType == .transformableAttributeType else { return nil }
        let step = "Allow external storage, or move it behind a to-one relationship."
        guard checked.store != nil else {
          return isBinary && !isCarrier(entity)
            ? finding(
              "Its bytes are kept inside the row whatever their size, and come with every fetch.",
              step, entity, attribute.name) : nil
        }
        guard let (count, largest) = try measure(attribute, root, checked), count > 0 else {
          return nil
        }
        return finding(
          "\(NumberText.counted(count, "value")) of more than 100 kB "
            + "\(PluralForm.of(count, "lies", "lie")) inside the rows, the largest of "
            + "\(NumberText.grouped(largest)) bytes.", step, entity, attribute.name)
      }
    }
  }

  /// Whether an entity is there to hold one value behind a to-one relationship.
  private func isCarrier(_ entity: NSEntityDescription) -> Bool {
    entity.attributesByName.values.filter { !$0.isTransient }.count == 1
      && entity.relationshipsByName.values.contains { !$0.isToMany }
  }

  /// How many values are large, and the size of the largest; nil where the column is not found.
  private func measure(
    _ attribute: NSAttributeDescription, _ root: NSEntityDescription, _ checked: CheckedModel
  ) throws -> (count: Int, largest: Int)? {
    let name = "Z" + attribute.name.uppercased()
    guard let table = checked.schema?.table(ofRoot: root.name ?? ""),
      checked.schema?.tables[table]?.contains(where: { $0.name.uppercased() == name }) == true
    else { return nil }
    let column = CheckedModel.quoted(name)
    let rows = try checked.store?.values(
      "SELECT COUNT(*), MAX(LENGTH(\(column))) FROM \(CheckedModel.quoted(table)) "
        + "WHERE LENGTH(\(column)) > ?", [.integer(Self.limit)])
    guard let row = rows?.first, case .integer(let count) = row[0] else { return nil }
    guard case .integer(let largest) = row[1] else { return (Int(count), 0) }
    return (Int(count), Int(largest))
  }
}
