#include "server/feature/timeline_svg.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "server/feature/escape.h"
#include "server/feature/fitted_name.h"
#include "server/feature/flame_colors.h"

namespace profd {
namespace {

constexpr double kLeft = 190, kRight = 70, kTop = 74, kTrackHeight = 26, kBoxHeight = 16, kBetween = 6;
constexpr double kAcross = kTimelineSvgWidth - kLeft - kRight;
constexpr double kLetter = 6.4;  // about, of 11 px

class TimelinePage {
 public:
  explicit TimelinePage(const TimelineAnswer& answer)
      : answer_(answer), px_(kAcross / static_cast<double>(answer.to - answer.from)) {}

  std::string write(const std::string& title) {
    axis();
    for (const TimelineAnswer::Track& track : answer_.tracks) {
      load_of(track);
      for (const TimelineAnswer::Chart& chart : answer_.charts)
        if (chart.track == track.id) chart_of_track(chart);
      y_ += kBetween;
    }
    if (answer_.left) {
      body_ += fmt::format("<text class=\"d\" x=\"10\" y=\"{}\">{}</text>\n", y_ + 14,
                           escape_markup(answer_.left->text));
      y_ += 20;
    }
    return fmt::format(
               "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
               "width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" font-family=\"Verdana, DejaVu Sans, "
               "sans-serif\" font-size=\"11\">\n<style>svg {{ --ground: #fff; --ink: #1d1d22; --dim: "
               "#5b5b66; --edge: "
               "#e2e2e8; --load: #3a6fb0; --rest: #c6c6cf; }} @media (prefers-color-scheme: dark) {{ svg {{ "
               "--ground: "
               "#1b1b1f; --ink: #e6e6ea; --dim: #a0a0aa; --edge: #34343c; --load: #6ea0dc; --rest: #55555f; "
               "}} }} "
               "text {{ fill: var(--ink); }} .d {{ fill: var(--dim); }} .b text {{ fill: #17171a; }} .l {{ "
               "fill: "
               "var(--load); }} .r {{ fill: var(--rest); }} .e {{ stroke: var(--edge); }} .g {{ fill: "
               "url(#gap); }}</style>\n<defs><pattern id=\"gap\" width=\"6\" height=\"6\" "
               "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><rect width=\"1.5\" "
               "height=\"6\" "
               "fill=\"var(--rest)\"/></pattern></defs>\n<rect width=\"100%\" height=\"100%\" "
               "fill=\"var(--ground)\"/>\n<text x=\"10\" y=\"22\" font-size=\"15\" "
               "font-weight=\"600\">{2}</text>\n"
               "<text class=\"d\" x=\"10\" y=\"40\">{3}</text>\n",
               kTimelineSvgWidth, std::lround(y_ + 8), escape_markup(title),
               escape_markup(answer_.window_text + ". " + answer_.basis)) +
           body_ + "</svg>\n";
  }

 private:
  [[nodiscard]] double x_of(double ns_after_from) const {
    return kLeft + std::clamp(ns_after_from * px_, 0.0, kAcross);
  }

  void axis() {
    const auto length = static_cast<double>(answer_.to - answer_.from);
    double step = std::pow(10, std::floor(std::log10(length / 5)));
    if (length / step > 25) step *= 5;
    if (length / step > 12) step *= 2;
    step = std::max(step, 1.0);
    const double first = std::ceil(static_cast<double>(answer_.from) / step) * step;
    for (double at = first; at <= static_cast<double>(answer_.to); at += step) {
      const double x = x_of(at - static_cast<double>(answer_.from));
      body_ += fmt::format(
          "<line class=\"e\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"58\" y2=\"100%\"/><text class=\"d\" "
          "x=\"{0:.1f}\" "
          "y=\"54\" text-anchor=\"middle\">{1}</text>\n",
          x, escape_markup(moment_text(static_cast<std::int64_t>(at), static_cast<std::int64_t>(step))));
    }
  }

  void load_of(const TimelineAnswer::Track& track) {
    const double base = y_ + kTrackHeight;
    body_ += fmt::format(
        "<text x=\"10\" y=\"{}\">{}<title>{}</title></text><text class=\"d\" x=\"{}\" y=\"{}\">{}</text>\n",
        base - 8, escape_markup(cut_to_width(sanitize_text(track.name), 27)), escape_markup(track.name),
        kLeft + kAcross + 6, base - 8, escape_markup(track.load_text));
    std::string path = fmt::format("M{:.1f} {:.1f}", kLeft, base);
    for (std::size_t i = 0; i < track.load.size(); ++i) {
      const double share = answer_.full > 0 ? std::clamp(track.load[i] / answer_.full, 0.0, 1.0) : 0;
      const double left = kLeft + kAcross * static_cast<double>(i) / static_cast<double>(track.load.size());
      const double right =
          kLeft + kAcross * static_cast<double>(i + 1) / static_cast<double>(track.load.size());
      path += fmt::format("L{:.1f} {:.1f}L{:.1f} {:.1f}", left, base - share * (kTrackHeight - 4), right,
                          base - share * (kTrackHeight - 4));
    }
    body_ += fmt::format("<path class=\"l\" d=\"{}L{:.1f} {:.1f}Z\"><title>{}</title></path>\n", path,
                         kLeft + kAcross, base,
                         escape_markup(fmt::format("{}: {}", track.name, track.amount.text)));
    y_ = base + 2;
  }

  void chart_of_track(const TimelineAnswer::Chart& chart) {
    for (std::size_t i = 0; i < chart.gap_x.size(); ++i)
      body_ += fmt::format(
          "<rect class=\"g\" x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\"><title>{}</title></rect>\n",
          x_of(static_cast<double>(chart.gap_x[i])), y_,
          x_of(static_cast<double>(chart.gap_x[i] + chart.gap_width[i])) -
              x_of(static_cast<double>(chart.gap_x[i])),
          kBoxHeight, escape_markup(chart.gap_text[i]));
    std::uint32_t rows = 0;
    for (std::size_t i = 0; i < chart.boxes.depth.size(); ++i) {
      rows = std::max(rows, chart.boxes.depth[i] + 1);
      box(chart.boxes, i);
    }
    y_ += rows * (kBoxHeight + 1.0);
    for (const std::string& note : chart.notes) {
      body_ +=
          fmt::format("<text class=\"d\" x=\"{}\" y=\"{}\">{}</text>\n", kLeft, y_ + 12, escape_markup(note));
      y_ += 16;
    }
  }

  void box(const TimelineBoxes& boxes, std::size_t i) {
    const double begin = as_double(boxes.x[i]), left = x_of(begin);
    const double right = std::max(left + 0.7, x_of(begin + as_double(boxes.width[i])));
    const double top = y_ + boxes.depth[i] * (kBoxHeight + 1.0);
    const bool joined = boxes.name[i] < 0;
    const auto name = static_cast<std::size_t>(std::max(boxes.name[i], 0));
    std::string fill, text;
    if (!joined) {
      const std::int32_t group = answer_.named.group[name];
      const Hsl color =
          flame_color(FlameScheme::module,
                      {answer_.names[name],
                       group < 0 ? std::string_view() : answer_.groups[static_cast<std::size_t>(group)]});
      fill = fmt::format(" fill=\"hsl({} {}% {}%)\"", color.hue, color.saturation, color.lightness);
      const double letters = (right - left - 6) / kLetter;
      if (letters >= 3)
        text =
            fmt::format("<text x=\"{:.2f}\" y=\"{:.1f}\">{}</text>", left + 3, top + 12,
                        escape_markup(fitted_name(answer_.labels[name], static_cast<std::size_t>(letters))));
    }
    body_ += fmt::format(
        "<g class=\"b\"><title>{}</title><rect{}{} x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" "
        "height=\"{}\"/>{}</g>\n",
        escape_markup(joined ? boxes.text[i] : answer_.names[name] + "\n" + boxes.text[i]),
        joined ? " class=\"r\"" : "", fill, left, top, right - left, kBoxHeight, text);
  }

  const TimelineAnswer& answer_;
  double px_;
  double y_ = kTop;
  std::string body_;
};

}  // namespace

std::string timeline_svg(const TimelineAnswer& answer, const std::string& title) {
  return TimelinePage(answer).write(title);
}

}  // namespace profd
