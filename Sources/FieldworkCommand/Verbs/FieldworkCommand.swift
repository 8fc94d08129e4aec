import ArgumentParser
import Foundation

@main
enum Program {
    static func main() async {
        do {
            await FieldworkCommand.main(try Configuration.applied(to: Array(CommandLine.arguments.dropFirst())))
        } catch {
            let failure = CommandFailure(error)
            Terminal.error("fieldwork: \(failure.message)")
            exit(failure.code.rawValue)
        }
    }
}

/// The command `fieldwork`: one verb a file under `Verbs/`.
struct FieldworkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fieldwork",
        abstract: "Serve, edit and publish map features.",
        discussion: """
            EXAMPLES
              fieldwork demo
                  Makes demo services at the first start, and serves them with the app.
              fieldwork collect --map trees.webmap.json
                  Opens a web map for collecting.
              fieldwork publish trees.csv --service Trees --x lon --y lat --wkid 4326
                  Publishes a table with coordinates as a service.
              fieldwork serve --data ./Fieldwork-data --port 8080
              fieldwork users add ana --role administrator --data ./Fieldwork-data
              fieldwork query Trees --where "dbh > 30"

            CONFIGURATION
              Options may also be set in fieldwork.toml and in variables such as
              FIELDWORK_DATA: see fieldwork config.

            EXIT CODES
              0 done · 64 wrong use · 65 bad data · 66 no such input
              69 service not available · 70 failure inside · 73 can't create
              74 reading or writing failed · 75 busy, try again
              77 not permitted, or sign in first · 130 interrupted
              fieldwork sync has more: see its help.
            """,
        version: Version.text,
        subcommands: [
            DemoCommand.self, ServeCommand.self, CollectCommand.self, PublishCommand.self, UnpublishCommand.self,
            ServiceCommand.self, ServicesCommand.self, BasemapCommand.self, LocatorCommand.self, QueryCommand.self,
            ExportCommand.self, OfflineCommand.self, AreasCommand.self, CodeCommand.self, SyncCommand.self,
            SignInCommand.self,
            SignOutCommand.self, DiffCommand.self, ReplicasCommand.self, ConflictsCommand.self,
            HistoryCommand.self, ArcadeCommand.self, CalculateCommand.self, ValidateCommand.self,
            UsersCommand.self, GroupsCommand.self, ItemsCommand.self, ShareCommand.self, RightsCommand.self,
            AppsCommand.self, ViewsCommand.self,
            RestoreCommand.self, StoreCommand.self, IndexCommand.self, DoctorCommand.self, BackupCommand.self,
            RestoreBackupCommand.self, StatusCommand.self, ConfigCommand.self, LimitsCommand.self, ManualCommand.self,
        ])
}
