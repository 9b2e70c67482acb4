import Foundation

// Commands run on a separate thread with a large stack, which leaves the main queue to main-queue
// contexts, as in an app.
Console.occupyClosedDescriptors()
Signals.listen()
let worker = Thread {
  exit(Program.run(Array(CommandLine.arguments.dropFirst())).rawValue)
}
worker.stackSize = 8 << 20
worker.start()
dispatchMain()
