import ManagedModel

// From a did-change notification to what happened to the list.

extension FetchedResults {
  /// Brings list and sections up to date and tells the delegate.
  func contextDidChange(_ notification: Notification) {
    guard let plan, let delegate else { return }
    let change = ListChange(changed(notification, plan), in: self, plan)
    guard !change.isEmpty else { return }
    let controller = face(self)
    delegate.controllerWillChangeContent(controller)
    let (oldNames, oldSections, oldStarts) = (sectionNames, sections, sectionStarts)
    let names = change.sectionNames(of: self)
    let updated = change.updated.map { list.object(at: $0) }
    list.edit(removing: change.removed.map(\.position), inserting: change.inserted)
    (sectionNames, sectionStarts) = names
    tellSections(delegate, controller, from: oldNames, oldSections)
    change.tell(delegate, controller, updated: updated, from: oldStarts, to: sectionStarts)
    if sectionNameKeyPath == nil, let difference = change.difference {
      delegate.controller(controller, didChangeContentWith: difference)
    }
    delegate.controllerDidChangeContent(controller)
  }

  /// The objects of the request's entity that a notification names, each once, in a steady order.
  private func changed(_ notification: Notification, _ plan: FetchPlan) -> [NSManagedObject] {
    let keys = [
      NSInsertedObjectsKey, NSUpdatedObjectsKey, NSRefreshedObjectsKey, NSDeletedObjectsKey,
    ]
    var all: Set<NSManagedObject> = []
    for key in keys {
      all.formUnion(notification.userInfo?[key] as? Set<NSManagedObject> ?? [])
    }
    return all.filter { plan.covers($0.layout) }.sorted { $0.primaryKey < $1.primaryKey }
  }

  private func tellSections(
    _ delegate: any NSFetchedResultsControllerDelegate,
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, from oldNames: [String],
    _ oldSections: [FetchedSection]
  ) {
    guard sectionNameKeyPath != nil else { return }
    let (old, new) = (Set(oldNames), Set(sectionNames))
    for (index, name) in oldNames.enumerated() where !new.contains(name) {
      var section = oldSections[index]
      section.results = nil
      delegate.controller(controller, didChange: section, atSectionIndex: index, for: .delete)
    }
    let sections = sections
    for (index, name) in sectionNames.enumerated() where !old.contains(name) {
      delegate.controller(
        controller, didChange: sections[index], atSectionIndex: index, for: .insert)
    }
  }
}
