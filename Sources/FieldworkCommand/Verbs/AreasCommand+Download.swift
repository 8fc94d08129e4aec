import ArgumentParser
import Fieldwork
import FieldworkGeometry
import Foundation

extension AreasCommand {
    struct Download: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Download a prepared area into a folder.",
            discussion: """
                `fieldwork offline list`, `update` and `delete` work with the folder as with one of `fieldwork offline create`. \
                A command that was interrupted continues when it is given again: FOLDER.job remembers how far it was.
                """)
        @Argument(help: "The address of the area's item; with --to also its id or its title.") var area: String
        @Option(help: "The folder to make.") var out: String
        @Flag(help: "Download it without its basemap.") var noBasemap = false
        @Flag(help: "Download an area that is never synchronised: edits in it go nowhere.") var noUpdates = false
        @Flag(
            help: ArgumentHelp(
                "Download an area for looking things up: it takes no edits.",
                discussion: """
                    `fieldwork offline update` brings it to the state that its author has prepared last (`fieldwork areas update`): \
                    by changes that the server puts together once for all crews.
                    """))
        var scheduledUpdates = false
        @OptionGroup var place: MapItemPlace

        func validate() throws {
            guard !noUpdates || !scheduledUpdates else {
                throw ValidationError("Give --no-updates or --scheduled-updates.")
            }
        }

        func run() async throws {
            try await runVerb {
                PrivateFiles.begin()
                let target = JobTarget(out)
                try target.require()
                let item = try await place.named(area, .mapArea)
                let text = try await Interruption.cancelling { [self] in try await download(item, to: target) }
                Terminal.output(text)
            }
        }

        private func download(_ item: PortalItem, to place: JobTarget) async throws -> String {
            let (target, state) = (place.url, place.stateURL)
            let job: DownloadPreplannedOfflineMapJob
            if let kept = try? Data(contentsOf: state),
                let begun = try Job.fromJSON(kept) as? DownloadPreplannedOfflineMapJob,
                begun.parameters.preplannedMapArea.portalItem.id == item.id
            {
                job = begun
            } else {
                job = try await newJob(item, target)
                try job.toJSON().write(to: state, options: .atomic)
            }
            let result: DownloadPreplannedOfflineMapResult
            do {
                result = try await JobProgress.run(job, title: "Downloading", done: "Downloaded")
            } catch let failure as CommandFailure where failure.code == .interrupted {
                throw CommandFailure(.interrupted, "Interrupted. The same command again continues from here.")
            }
            defer { result.mobileMapPackage.close() }
            place.forgetState()
            for message in job.messages where message.severity == .warning { Terminal.error(message.message) }
            var count = 0
            for table in result.mobileMapPackage.geodatabases.flatMap(\.featureTables) {
                count += try await table.queryFeatureCount(using: QueryParameters())
            }
            return
                "Wrote \(target.path) with \(count) features, \((result.mobileMapPackage.size + 1_023) / 1_024) KB"
        }

        private func newJob(_ item: PortalItem, _ target: URL) async throws -> DownloadPreplannedOfflineMapJob {
            let task = OfflineMapTask(portalItem: try await place.map(of: item))
            let parameters = try await task.makeDefaultDownloadPreplannedOfflineMapParameters(
                preplannedMapArea: PreplannedMapArea(portalItem: item))
            parameters.includesBasemap = !noBasemap
            if noUpdates { parameters.updateMode = .noUpdates }
            if scheduledUpdates { parameters.updateMode = .downloadScheduledUpdates }
            return task.makeDownloadPreplannedOfflineMapJob(parameters: parameters, downloadDirectory: target)
        }
    }
}
