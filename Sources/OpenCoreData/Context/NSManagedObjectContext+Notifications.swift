import ManagedModel
import ProfileEvents

extension NSManagedObjectContext {
  /// Posts on the context's queue, with the context as the object; one event.
  final func post(_ name: Notification.Name, _ userInfo: [AnyHashable: Any]) {
    let event = scope.begin(.notification)
    NotificationCenter.default.post(name: name, object: self, userInfo: userInfo)
    scope.end(event) { $0.entity = name.rawValue }
  }
}
