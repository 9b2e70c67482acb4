extension NSManagedObjectModel {
  /// The model as text, one fact a line.
  ///
  /// Two models with the same outline describe the same data in the same way. Names are sorted, so
  /// that the order of entities and properties does not count. What only code generation and the
  /// model editor use is left out, as compiled models leave it out.
  package var outline: [String] {
    var lines = ["model \(versionIdentifiers.map { "\($0)" }.sorted())"]
    for entity in entities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) {
      lines += entity.outline
    }
    for name in configurations {
      let members = entities(forConfigurationName: name)?.compactMap(\.name).sorted() ?? []
      lines.append("configuration \(name): \(members.joined(separator: ", "))")
    }
    for template in fetchRequestTemplates.sorted(by: { $0.name < $1.name }) {
      lines.append("fetch request \(template.outline)")
    }
    return lines
  }
}

extension FetchRequestTemplate {
  /// The template on one line.
  var outline: String {
    var facts = ["\(name): \(entityName)" + (predicateFormat.map { " where \($0)" } ?? "")]
    if !sortDescriptors.isEmpty {
      let keys = sortDescriptors.map { "\($0.key ?? "?")\($0.ascending ? "" : " descending")" }
      facts.append("by \(keys.joined(separator: " and "))")
    }
    if fetchLimit != 0 { facts.append("at most \(fetchLimit)") }
    if fetchBatchSize != 0 { facts.append("\(fetchBatchSize) at a time") }
    if resultType != 0 { facts.append("result type \(resultType)") }
    if !includesSubentities { facts.append("without sub-entities") }
    if !includesPropertyValues { facts.append("without values") }
    if !includesPendingChanges { facts.append("without pending changes") }
    if !returnsObjectsAsFaults { facts.append("no faults") }
    if returnsDistinctResults { facts.append("distinct") }
    return facts.joined(separator: ", ")
  }
}
