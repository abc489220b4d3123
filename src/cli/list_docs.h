// What is built in, a document for each kind, for `stepcast list`.
#ifndef STEPCAST_CLI_LIST_DOCS_H_
#define STEPCAST_CLI_LIST_DOCS_H_

#include "base/result.h"
#include "view/doc.h"

namespace stepcast::cli {

/// Machines, with every published figure for programs.
Result<view::Doc> ListGpus();
Result<view::Doc> ListPlatforms();
Result<view::Doc> ListServers();  // And what runs on them.
/// What files of machines say and `NAME@KEY=VALUE` replaces.
Result<view::Doc> ListFigures();

/// Models of kernels.
Result<view::Doc> ListModels();
/// Models to predict, and how they can be run.
Result<view::Doc> ListWorkloads();
/// Sets of the host's times.
Result<view::Doc> ListOverheads();

/// What commands take.
Result<view::Doc> ListFormats();
Result<view::Doc> ListChanges();
Result<view::Doc> ListStudies();
Result<view::Doc> ListSettings();

/// One table, which is its CSV as well.
view::Doc ListOf(view::Table table);

}  // namespace stepcast::cli

#endif  // STEPCAST_CLI_LIST_DOCS_H_
