import OpenCoreData

/// Records the history tokens of a coordinator's remote change notifications.
final class RemoteChangeList: @unchecked Sendable {  // `observer` is used at the end only
  private let notes: LineList
  private let observer: any NSObjectProtocol

  /// Observes the notifications until the list is released.
  init(_ coordinator: NSPersistentStoreCoordinator) {
    let notes = LineList()
    self.notes = notes
    observer = NotificationCenter.default.addObserver(
      forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil
    ) { note in
      let token = note.userInfo?[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken
      notes.add(token.map { "\($0)" } ?? "no token")
    }
  }

  deinit {
    NotificationCenter.default.removeObserver(observer)
  }

  /// The description of each token, in order, or `no token`.
  var tokens: [String] { notes.lines }
}
