(function () {
  'use strict';
  if (!window.echarts) return;
  var css = function (name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  };
  var number = function (v) {
    var size = Math.abs(v);
    if (size >= 1e9) return (v / 1e9).toFixed(size < 1e10 ? 2 : 1) + ' G';
    if (size >= 1e6) return (v / 1e6).toFixed(size < 1e7 ? 2 : 1) + ' M';
    if (size >= 1e4) return (v / 1e3).toFixed(size < 1e5 ? 1 : 0) + ' k';
    return size < 10 ? v.toFixed(2) : size < 100 ? v.toFixed(1) : v.toFixed(0);
  };
  var charts = [];
  var ruler = document.createElement('canvas').getContext('2d');
  var font = '12px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';
  ruler.font = font;
  var width = function (text) { return ruler.measureText(text).width; };

  function option(cell) {
    var ink = css('--ink'), soft = css('--soft'), line = css('--line');
    var colour = {quiesce: css('--ours'), java: css('--java'), native: css('--native')};
    var rows = cell.rows.slice().reverse(); // the axis grows upwards
    return {
      animation: false,
      textStyle: {fontFamily: font.slice(5), fontSize: 12, color: ink},
      grid: {left: Math.ceil(Math.max.apply(null, cell.rows.map(function (r) { return width(r.subject); }))) + 14,
        right: 84, top: 4, bottom: 24},
      tooltip: {
        trigger: 'item',
        formatter: function (p) {
          var r = rows[p.dataIndex];
          return r.subject + '<br>' + number(r.median) + ' ' + cell.unit + ' (' + number(r.min) + ' to ' +
            number(r.max) + ', ' + r.runs + ' rounds)';
        }
      },
      xAxis: {
        type: cell.log ? 'log' : 'value',
        min: cell.log ? cell.floor : 0,
        name: cell.log ? 'logarithmic' : '', nameLocation: 'end', nameGap: 14,
        nameTextStyle: {color: soft, fontSize: 11},
        axisLabel: {color: soft, formatter: number, hideOverlap: true},
        splitLine: {lineStyle: {color: line}}
      },
      yAxis: {
        type: 'category',
        data: rows.map(function (r) { return r.subject; }),
        axisLine: {lineStyle: {color: line}}, axisTick: {show: false},
        axisLabel: {color: ink, interval: 0, fontSize: 12}
      },
      series: [{
        type: 'bar', barWidth: '58%',
        data: rows.map(function (r) {
          return {value: r.median, itemStyle: {color: colour[r.kind], borderRadius: [0, 3, 3, 0]}};
        })
      }, {
        type: 'custom', z: 5, silent: true, encode: {x: [1, 2], y: 0},
        data: rows.map(function (r, i) { return [i, r.min, r.max, r.median]; }),
        renderItem: function (params, api) {
          var low = api.coord([api.value(1), api.value(0)]), high = api.coord([api.value(2), api.value(0)]);
          var h = api.size([0, 1])[1] * 0.16, style = {stroke: ink, lineWidth: 1.2, fill: 'none'};
          var stroke = function (x1, y1, x2, y2) {
            return {type: 'line', shape: {x1: x1, y1: y1, x2: x2, y2: y2}, style: style};
          };
          return {type: 'group', children: [
            stroke(low[0], low[1], high[0], high[1]),
            stroke(low[0], low[1] - h, low[0], low[1] + h),
            stroke(high[0], high[1] - h, high[0], high[1] + h),
            {type: 'text', style: {text: number(api.value(3)), x: high[0] + 7, y: high[1],
              textVerticalAlign: 'middle', fill: soft, font: font}}
          ]};
        }
      }]
    };
  }

  // Lines over a parameter: ours thick, peers told apart by dash and symbol, named at the side.
  function lines(cell) {
    var ink = css('--ink'), soft = css('--soft'), line = css('--line');
    var colour = {quiesce: css('--ours'), java: css('--java'), native: css('--native')};
    var symbols = ['circle', 'rect', 'triangle', 'diamond', 'emptyCircle', 'emptyRect', 'emptyTriangle', 'emptyDiamond'];
    var dashes = ['solid', 'dashed', 'dotted', [8, 3, 2, 3]];
    var seen = {};
    return {
      animation: false,
      textStyle: {fontFamily: font.slice(5), fontSize: 12, color: ink},
      grid: {left: 62, top: 14, bottom: 40,
        right: Math.ceil(Math.max.apply(null, cell.lines.map(function (l) { return width(l.subject); }))) + 60},
      legend: {type: 'scroll', orient: 'vertical', right: 0, top: 8, textStyle: {color: ink}, itemWidth: 30},
      tooltip: {
        trigger: 'item',
        formatter: function (p) {
          return p.seriesName + '<br>' + p.name + ' ' + cell.axis + ': ' + number(p.value) + ' ' + cell.unit;
        }
      },
      xAxis: {
        type: 'category', data: cell.points.map(String), name: cell.axis, nameLocation: 'middle', nameGap: 24,
        nameTextStyle: {color: soft}, axisLabel: {color: soft}, axisLine: {lineStyle: {color: line}}
      },
      yAxis: {
        type: cell.log ? 'log' : 'value', min: cell.log ? cell.floor : 0,
        axisLabel: {color: soft, formatter: number}, splitLine: {lineStyle: {color: line}}
      },
      series: cell.lines.map(function (l) {
        var n = seen[l.kind] = (seen[l.kind] || 0) + 1, ours = l.kind === 'quiesce';
        return {
          type: 'line', name: l.subject, data: l.values, z: ours ? 4 : 2,
          symbol: symbols[(n - 1) % symbols.length], symbolSize: ours ? 9 : 7,
          itemStyle: {color: colour[l.kind]},
          lineStyle: {color: colour[l.kind], width: ours ? 3 : 1.6, type: dashes[(n - 1) % dashes.length]}
        };
      })
    };
  }

  function draw() {
    charts.forEach(function (c) { c.chart.setOption(c.cell.lines ? lines(c.cell) : option(c.cell), true); });
  }

  document.querySelectorAll('.chart').forEach(function (box) {
    var cell = JSON.parse(box.querySelector('script').textContent);
    box.style.height = (cell.lines ? Math.max(280, cell.lines.length * 24 + 40) : cell.rows.length * 27 + 34) + 'px';
    var inner = document.createElement('div');
    inner.style.height = '100%';
    box.appendChild(inner);
    charts.push({chart: echarts.init(inner, null, {renderer: 'svg'}), cell: cell});
  });
  draw();
  window.addEventListener('resize', function () { charts.forEach(function (c) { c.chart.resize(); }); });
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
})();
